import Basics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The browsers that have been here, and the sign-ins that are under way in them.
struct BrowserSessions {
  struct Session: Redacted {
    /// What each form must bring back: another site cannot read it.
    let formToken: String
    /// Who signed in.
    var user: String?
  }

  /// An authorization request that was found in order and waits for the user.
  struct Pending: Redacted {
    var session: String
    let client: SandboxClient
    let redirectURI: String
    let state: String?
    let scopes: [String]
    let challenge: String?
    /// `prompt=login`: a user who is signed in must prove it again.
    var mustSignIn: Bool
    let begun: Date
    /// Its place among all, since the clock may stand still.
    fileprivate(set) var number = 0
  }

  private static let patience: TimeInterval = 600

  private(set) var sessions: [String: Session] = [:]
  private(set) var pending: [String: Pending] = [:]
  private var count = 0

  /// The session of a cookie, or a new one.
  mutating func session(_ cookie: String?) -> String {
    if let cookie, sessions[cookie] != nil { return cookie }
    let id = Crypto.secret("")
    sessions[id] = Session(formToken: Crypto.secret(""))
    return id
  }

  mutating func begin(_ request: Pending) -> String {
    pending = pending.filter { request.begun.timeIntervalSince($0.value.begun) < Self.patience }
    let id = Crypto.secret("")
    count += 1
    pending[id] = request
    pending[id]?.number = count
    return id
  }

  /// The sign-in that began last in this browser, of those that are under way.
  func latest(_ cookie: String?) -> String? {
    guard let cookie else { return nil }
    return pending.filter { $0.value.session == cookie }
      .max { $0.value.number < $1.value.number }?.key
  }

  /// A sign-in that is under way in this browser, with the session that it belongs to.
  func find(_ id: String?, cookie: String?) -> (id: String, Pending, Session)? {
    guard let id, let request = pending[id], request.session == cookie,
      let session = sessions[request.session]
    else { return nil }
    return (id, request, session)
  }

  /// Notes that the user has proved who they are, and returns the cookie of a new session.
  ///
  /// The old one ends, so that nobody can have planted its cookie; sign-ins in other tabs go along.
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

  /// Another user wants to sign in.
  mutating func signOut(request id: String) {
    guard let session = pending[id]?.session else { return }
    sessions[session]?.user = nil
  }

  mutating func end(_ id: String) {
    pending[id] = nil
  }
}
