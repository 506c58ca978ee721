import Basics
public import Dispatch

/// One account with one authorization server: gets its token, keeps it alive, and puts it on
/// requests.
///
/// Every method may be called from any thread or task, any number of times at once. ``SQOAuth``
/// holds one and adds delegates; a server or a daemon with many accounts makes its own.
///
/// However many callers find the token expired or refused, one of them refreshes it and all of them
/// get what comes of that. A failure is theirs too, and stands for 1 s, then 2 s, up to 60 s, or as
/// long as the server asks, so that a server in trouble gets one request in that time. Only
/// `invalid_grant` ends the session; after any other failure the next attempt may succeed.
public final class AuthorizationModule: Sendable {
  /// The name of the account's record in the token store.
  public let accountID: String
  let context: ClientContext
  let session: TokenSession
  let signIns = SignIns()
  let refusals = Locked(RefusalBrake())
  package let callbacks = Callbacks()

  /// Makes the module of an account; nothing is read or sent yet.
  ///
  /// Two modules on one store need two names.
  public convenience init(
    configuration: ClientConfiguration, environment: ClientEnvironment = ClientEnvironment(),
    accountID: String = "default"
  ) {
    self.init(.success(configuration), environment: environment, accountID: accountID)
  }

  init(
    _ configuration: Result<ClientConfiguration, SQOAuthError>, environment: ClientEnvironment,
    accountID: String
  ) {
    self.accountID = accountID
    context = ClientContext(configuration, environment)
    session = TokenSession(context, accountID: accountID)
  }

  deinit {
    session.close()
  }

  /// The parts that the next operation works with.
  public var environment: ClientEnvironment {
    get { context.environment }
    set {
      context.environment = newValue
      session.clockDidChange()
    }
  }

  /// Where completions without an actor of their own are called: the main queue, unless the app sets
  /// another.
  ///
  /// The main queue needs a main thread that runs it: `dispatchMain()`, `RunLoop.main.run()` or an
  /// `async` main. A closure that belongs to an actor is called on that actor, whatever the queue.
  public var callbackQueue: DispatchQueue {
    get { callbacks.queue }
    set { callbacks.queue = newValue }
  }

  /// What the app keeps with the account, such as a name to show; stored with the next token, be it
  /// of a sign-in or of a refresh.
  ///
  /// Where the app sets nothing it is what the store has. A sign-out leaves it to the next sign-in,
  /// so an app whose users change sets it anew.
  public var attributes: [String: String] {
    get { context.attributes }
    set { context.attributes = newValue }
  }

  /// Uses another client from the next operation on; the token stays.
  func configure(_ configuration: Result<ClientConfiguration, SQOAuthError>) {
    context.configuration = configuration
    session.configurationDidChange()
  }
}

// MARK: - The token at hand

extension AuthorizationModule {
  /// The current token, or `nil`; it may have expired.
  public var currentToken: SQToken? { session.token }

  /// The current token if it is valid now, without waiting for anything.
  ///
  /// A token that can be refreshed counts as expired a tenth of its life early, 30 s at most.
  public var validToken: SQToken? { session.validToken }

  /// Whether a token is in memory, expired or not; ``restore()`` looks into the store too.
  public var hasAccessToken: Bool { session.token != nil }

  /// Whether there is a token that has not expired.
  public var isAuthorized: Bool { session.isAuthorized }

  /// The header fields of a request with the current token, or `nil` where it is not valid.
  public var authorizationFields: [String: String]? {
    guard let token = session.validToken else { return nil }
    let fields = environment.requestAuthenticator.headerFields(for: token)
    return Dictionary(fields.map { ($0.name, $0.value) }) { first, _ in first }
  }

  /// What happens to the session from now on; the stream ends with the module.
  public var events: AsyncStream<SessionEvent> { session.observers.stream() }
}

// MARK: - A token that is valid

extension AuthorizationModule {
  /// A token that is valid now: the one at hand, or one that is refreshed first.
  ///
  /// Where nothing is at hand the store is asked. Cancelling the task ends the wait and nothing
  /// else.
  ///
  /// - Throws: ``SQOAuthError``: ``SQOAuthError/Code/notAuthorized`` where there is no token, or an
  ///   expired one that cannot be refreshed; otherwise why the refresh failed.
  public func token() async throws(SQOAuthError) -> SQToken {
    if let token = session.validToken { return token }
    return try await session.token(.valid)
  }

  /// Gets a fresh token although the one at hand may be valid.
  ///
  /// Joins the refresh that is under way, if there is one.
  @discardableResult
  public func refresh() async throws(SQOAuthError) -> SQToken {
    try await session.token(.new(since: session.renewals))
  }

  /// Returns when no refresh is under way and the store has the newest token.
  ///
  /// A program calls it before it ends: a refresh token that is on its way would be lost. A token
  /// that the store refused before is offered once more. The call goes on when its task is
  /// cancelled; it waits no longer than a refresh and the store's locks take.
  ///
  /// - Throws: ``SQOAuthError``: why the store does not have the newest token, or still has an
  ///   account that was signed out. The token is in memory only, and ends with the program.
  public func settle() async throws(SQOAuthError) {
    try await session.settle()
  }

  /// A valid token by whatever way there is: the one at hand, a refresh, or else the browser.
  ///
  /// The browser opens when there is no token, or when the refresh fails with an error that says
  /// ``SQOAuthError/requiresSignIn``. After any other failure of the refresh that error is thrown.
  /// However many callers need the browser at a time, it opens once for all of them.
  @discardableResult
  public func requestAccess() async throws(SQOAuthError) -> SQToken {
    while true {
      let endCount = signIns.endCount
      do throws(SQOAuthError) {
        return try await token()
      } catch {
        guard error.requiresSignIn, !context.usesClientCredentials else { throw error }
        // The others may have signed in by the time that this caller is awake.
        if let token = try await signIn(since: endCount) { return token }
      }
    }
  }

  /// Makes the access token count as expired, so that its next use refreshes it.
  ///
  /// For an app that learns from a resource server that the token is no longer good.
  public func invalidateAccessToken() {
    session.invalidate()
  }

  /// Forgets the token and its refresh token: Heimdall's name of ``signOut()``.
  public func clearAccessToken() async throws(SQOAuthError) {
    try await signOut()
  }

  /// Takes the account's record from the store; says whether there is a token now.
  ///
  /// ``token()`` does so by itself; this is for an app that wants to know at launch.
  @discardableResult
  public func restore() async throws(SQOAuthError) -> Bool {
    if session.token != nil { return true }
    return try await session.restore()
  }
}

// MARK: - The timer

extension AuthorizationModule {
  /// Whether the token is refreshed before it expires, without anyone asking.
  ///
  /// It is due 11 to 12 percent of its life before the expiry, at random, so that the clients of a
  /// server do not come all at once, and 550 to 600 s before it at most. A failure is tried again
  /// when its back-off is over. The timer stops when the session ends and when the module goes; it
  /// counts the time that the machine was suspended.
  public var refreshesAutomatically: Bool {
    get { session.isUpdating }
    set { session.updates(newValue) }
  }
}

// MARK: - Ending

extension AuthorizationModule {
  /// Has the authorization server end the refresh token and the access token, then forgets them.
  ///
  /// A token that the server does not know counts as ended. When anything fails the tokens are kept
  /// and the call may be made again. Without a token there is nothing to do, and no request.
  ///
  /// - Throws: ``SQOAuthError``: ``SQOAuthError/Code/revocationUnsupported`` where the provider has
  ///   no way to do it, with ``SQOAuthError/retryAfter`` where a busy server names a time.
  /// - SeeAlso: RFC 7009
  public func revoke() async throws(SQOAuthError) {
    try await session.end(.revoked) { record throws(SQOAuthError) in
      try await context.revoke(record)
    }
  }

  /// Forgets the token and its refresh token, in memory at once and in the store; the server does not
  /// hear of it.
  ///
  /// A sign-in under way is cancelled. What begins after this call is not touched.
  ///
  /// - Throws: ``SQOAuthError/Code/storeFailed`` if the store still has the account.
  public func signOut() async throws(SQOAuthError) {
    try await endSession().wait().get()
  }

  /// Cancels the sign-in under way and forgets the token.
  ///
  /// In memory at once, in the store when the returned change is made. What begins after this call
  /// is not touched.
  @discardableResult
  func endSession() -> StoreWrites.Write {
    signIns.cancel()
    return session.end(.signedOut)
  }
}
