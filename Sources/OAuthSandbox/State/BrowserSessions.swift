import SQBasics

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
    /// The sign-in of the user who is signed in.
    var signIn: UserSignIn?

    /// The session's place in the order of all.
    fileprivate let number: Int

    var user: String? { signIn?.user }
  }

  /// An authorization request that passed every check and waits for the user.
  struct Pending: Redacted {
    var session: String
    let client: SandboxClient
    let scopes: [String]
    let challenge: String?
    let end: SignInEnd
    let openID: OpenIDRequest
    /// Whether a user who is signed in must log in again, for example because of `prompt=login`.
    var mustSignIn: Bool
    /// Whether a user who is signed in must choose an account, as `prompt=select_account` asks.
    var mustChooseAccount: Bool
    let begun: Date
    /// The request's place in the order of all, since the clock may stand still.
    fileprivate(set) var number = 0

    /// How many minutes the user still has; a minute that has begun counts.
    func minutesLeft(at now: Date) -> Int {
      let left = BrowserSessions.lifetime - now.timeIntervalSince(begun)
      return max(1, Int((left / 60).rounded(.up)))
    }
  }

  private static let lifetime: TimeInterval = 600

  private(set) var sessions: [String: Session] = [:]
  private(set) var pending: [String: Pending] = [:]
  /// The scopes that a user allowed a client, for requests that may show no page.
  private var consents: [Consent: Set<String>] = [:]
  private var count = 0

  private struct Consent: Hashable {
    let user: String
    let client: String
  }

  /// The session with this cookie, or a new one.
  mutating func session(_ cookie: String?) -> String {
    if let cookie, sessions[cookie] != nil { return cookie }
    if sessions.count >= Self.mostSessions { forgetSessions() }
    let id = Crypto.secret("")
    count += 1
    sessions[id] = Session(formToken: Crypto.secret(""), number: count)
    return id
  }

  /// The most sessions, with a user or without one.
  static let mostSessions = 10_000
  /// The most authorization requests that wait for their users.
  static let mostPending = 1000

  /// Forgets the sessions without a user and without a sign-in that is under way, and then the
  /// oldest ones until a tenth of the room is free.
  ///
  /// A visitor without cookies makes a new session with each request.
  private mutating func forgetSessions() {
    let used = Set(pending.values.map(\.session))
    sessions = sessions.filter { $0.value.signIn != nil || used.contains($0.key) }
    let excess = sessions.count - Self.mostSessions * 9 / 10
    guard excess > 0 else { return }
    for (id, _) in sessions.sorted(by: { $0.value.number < $1.value.number }).prefix(excess) {
      sessions[id] = nil
    }
    pending = pending.filter { sessions[$0.value.session] != nil }
  }

  /// Keeps a request until its user answers, its time is over, or too many newer ones came.
  mutating func begin(_ request: Pending) -> String {
    pending = pending.filter { request.begun.timeIntervalSince($0.value.begun) < Self.lifetime }
    if pending.count >= Self.mostPending,
      let oldest = pending.min(by: { $0.value.number < $1.value.number })
    {
      pending[oldest.key] = nil
    }
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
  mutating func signIn(_ user: String, request id: String, at now: Date) -> String? {
    guard let request = pending[id] else { return nil }
    let old = request.session
    let known = sessions[old]?.signIn.flatMap { $0.user == user ? $0.sessionID : nil }
    sessions[old] = nil
    let session = self.session(nil)
    sessions[session]?.signIn = UserSignIn(
      user: user, date: now, acr: request.openID.acr,
      sessionID: known ?? Crypto.secret("session-"))
    for other in pending.keys where pending[other]?.session == old {
      pending[other]?.session = session
    }
    pending[id]?.mustSignIn = false
    pending[id]?.mustChooseAccount = false
    return session
  }

  /// Signs the user out, so that another user can sign in.
  mutating func signOut(request id: String) {
    guard let session = pending[id]?.session else { return }
    sessions[session]?.signIn = nil
  }

  /// Records that the user goes on with the account that is signed in.
  mutating func keepAccount(request id: String) {
    pending[id]?.mustChooseAccount = false
  }

  /// Ends the session of a browser, with the sign-ins that are under way in it.
  mutating func endSession(_ id: String) {
    sessions[id] = nil
    pending = pending.filter { $0.value.session != id }
  }

  // MARK: Consent

  mutating func remember(consentOf user: String, to client: String, scopes: [String]) {
    consents[Consent(user: user, client: client), default: []].formUnion(scopes)
  }

  func hasConsent(of user: String, to client: String, scopes: [String]) -> Bool {
    consents[Consent(user: user, client: client)]?.isSuperset(of: scopes) ?? false
  }

  mutating func end(_ id: String) {
    pending[id] = nil
  }
}
