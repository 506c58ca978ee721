import Basics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The browsers that have visited the sandbox, and the sign-ins that are under way in them.
struct BrowserSessions {
  struct Session: Redacted {
    /// The text that each form must send back; other sites cannot read it.
    let formToken: String
    /// The user who is signed in.
    var user: String?
  }

  /// An authorization request that passed every check and waits for the user.
  struct Pending: Redacted {
    var session: String
    let client: SandboxClient
    let redirectURI: String
    let state: String?
    let scopes: [String]
    let challenge: String?
    /// Whether a user who is signed in must log in again, as `prompt=login` asks.
    var mustSignIn: Bool
    let begun: Date
    /// The request's place in the order of all, since the clock may stand still.
    fileprivate(set) var number = 0
  }

  private static let lifetime: TimeInterval = 600

  private(set) var sessions: [String: Session] = [:]
  private(set) var pending: [String: Pending] = [:]
  private var count = 0

  /// The session with this cookie, or a new one.
  mutating func session(_ cookie: String?) -> String {
    if let cookie, sessions[cookie] != nil { return cookie }
    let id = Crypto.secret("")
    sessions[id] = Session(formToken: Crypto.secret(""))
    return id
  }

  mutating func begin(_ request: Pending) -> String {
    pending = pending.filter { request.begun.timeIntervalSince($0.value.begun) < Self.lifetime }
    let id = Crypto.secret("")
    count += 1
    pending[id] = request
    pending[id]?.number = count
    return id
  }

  /// The newest of the sign-ins that are under way in this browser.
  func latest(_ cookie: String?) -> String? {
    guard let cookie else { return nil }
    return pending.filter { $0.value.session == cookie }
      .max { $0.value.number < $1.value.number }?.key
  }

  /// A sign-in that is under way in this browser, with its session.
  func find(_ id: String?, cookie: String?) -> (id: String, Pending, Session)? {
    guard let id, let request = pending[id], request.session == cookie,
      let session = sessions[request.session]
    else { return nil }
    return (id, request, session)
  }

  /// Records that the user has logged in, and returns the cookie of a new session.
  ///
  /// The old session ends, since an attacker could have planted its cookie. Sign-ins in other tabs
  /// move to the new session.
  mutating func signIn(_ user: String, request id: String) -> String? {
    guard let old = pending[id]?.session else { return nil }
    sessions[old] = nil
    let session = self.session(nil)
    sessions[session]?.user = user
    for other in pending.keys where pending[other]?.session == old {
      pending[other]?.session = session
    }
    pending[id]?.mustSignIn = false
    return session
  }

  /// Signs the user out, so that another user can sign in.
  mutating func signOut(request id: String) {
    guard let session = pending[id]?.session else { return }
    sessions[session]?.user = nil
  }

  mutating func end(_ id: String) {
    pending[id] = nil
  }
}
