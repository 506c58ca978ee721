import SQBasics
import SQFoundation

/// The sessions of browsers that visited the sandbox, and their unfinished sign-ins.
struct BrowserSessions {
  struct Session: Redacted {
    /// The text that each form must send back, which other sites cannot read.
    let formToken: String
    /// The sign-in of the current user; `nil` if no user is signed in.
    var signIn: UserSignIn?

    /// The session's position in the order of creation.
    fileprivate let number: Int

    var user: String? { signIn?.user }
  }

  /// A checked authorization request that waits for the user.
  struct Pending: Redacted {
    var session: String
    let client: SandboxClient
    let scopes: [String]
    let challenge: String?
    let end: SignInEnd
    let openID: OpenIDRequest
    /// Whether a signed-in user must sign in again, for example because of `prompt=login`.
    var mustSignIn: Bool
    /// Whether a signed-in user must choose an account, because of `prompt=select_account`.
    var mustChooseAccount: Bool
    let begun: Date
    /// The thumbprint of the key that the code will be bound to.
    var key: String?
    /// The objects of `authorization_details`.
    var details: [SandboxJSON] = []
    /// The resources for which the app asks.
    var resources: [String] = []
    /// The request's position in the order of arrival, which dates do not show if the clock stands
    /// still.
    fileprivate(set) var number = 0

    /// Returns whether the user's time for the sign-in is over.
    fileprivate func isOver(at now: Date) -> Bool {
      now.timeIntervalSince(begun) >= BrowserSessions.lifetime
    }

    /// Returns the number of minutes that the user has left, rounded up.
    func minutesLeft(at now: Date) -> Int {
      let left = BrowserSessions.lifetime - now.timeIntervalSince(begun)
      return max(1, Int((left / 60).rounded(.up)))
    }
  }

  private static let lifetime: TimeInterval = 600

  private(set) var sessions: [String: Session] = [:]
  private(set) var pending: [String: Pending] = [:]
  /// The scopes that a user allowed a client, for later requests with `prompt=none`.
  private var consents: [Consent: Set<String>] = [:]
  private var count = 0

  private struct Consent: Hashable {
    let user: String
    let client: String
  }

  /// Returns the ID of the session with this cookie, or of a new session.
  mutating func session(_ cookie: String?) -> String {
    if let cookie, sessions[cookie] != nil { return cookie }
    if sessions.count >= Self.mostSessions { forgetSessions() }
    let id = Crypto.secret("")
    count += 1
    sessions[id] = Session(formToken: Crypto.secret(""), number: count)
    return id
  }

  /// The maximum number of sessions, with or without a user.
  static let mostSessions = 10_000
  /// The maximum number of authorization requests that wait for their users.
  static let mostPending = 1000

  /// Removes all sessions that have neither a user nor an unfinished sign-in, then the oldest ones
  /// until a tenth of the limit is free.
  ///
  /// The limit is necessary, because a client without cookies creates a new session with each
  /// request.
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

  /// Stores a request until its user answers, its time is over or too many newer ones arrive.
  mutating func begin(_ request: Pending) -> String {
    pending = pending.filter { !$0.value.isOver(at: request.begun) }
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

  /// Returns the ID of the newest unfinished sign-in in this browser.
  func latest(_ cookie: String?, at now: Date) -> String? {
    guard let cookie else { return nil }
    return pending.filter { $0.value.session == cookie && !$0.value.isOver(at: now) }
      .max { $0.value.number < $1.value.number }?.key
  }

  /// Returns an unfinished sign-in of this browser and its session, or `nil` if there is none with
  /// this ID.
  func find(_ id: String?, cookie: String?, at now: Date) -> (id: String, Pending, Session)? {
    guard let id, let request = pending[id], request.session == cookie, !request.isOver(at: now),
      let session = sessions[request.session]
    else { return nil }
    return (id, request, session)
  }

  /// Records a successful login, and returns the cookie of a new session.
  ///
  /// The old session ends, because an attacker could have planted its cookie. Sign-ins in other
  /// tabs move to the new session.
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

  /// Records that the user continues with the signed-in account.
  mutating func keepAccount(request id: String) {
    pending[id]?.mustChooseAccount = false
  }

  /// Ends a browser's session and its unfinished sign-ins.
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
