public import Dispatch
import SQBasics

/// One account at one authorization server: gets its token, keeps it valid, and puts it on
/// requests.
///
/// Any thread or task may call any method, any number of times at once. ``SQOAuth`` holds one
/// module and adds delegates; a server or a daemon with many accounts makes its own modules.
///
/// However many callers find the token expired or refused, the module refreshes it once, and all of
/// them get the result. If the refresh fails, they get its error, unless the old token is still
/// valid for them. For 1 s after the first failure, then for 2 s, up to 60 s, or as long as the
/// server asks, other callers get the same error without a request. So a server in trouble gets one
/// request in that time. Only `invalid_grant` ends the session; after any other error the next
/// attempt may succeed.
public final class AuthorizationModule: Sendable {
  /// The id of the account, under which the token store keeps its record.
  public let accountID: String
  package let context: ClientContext
  package let session: TokenSession
  let signIns = SignIns()
  let unclaimed = UnclaimedTokens()
  let refusals = Locked(FreshTokenRefusals())
  package let callbacks = Callbacks()

  /// Makes the module of an account; nothing is read or sent yet.
  ///
  /// Two modules on one store need different account ids.
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

  /// The replaceable parts, such as the HTTP client and the store, for the next operation.
  public var environment: ClientEnvironment {
    get { context.environment }
    set {
      context.environment = newValue
      session.environmentDidChange()
    }
  }

  package var requestAuthenticator: any ResourceRequestAuthenticator {
    context.withEnvironment(\.requestAuthenticator)
  }

  /// The queue for completions that belong to no actor; it is the main queue unless the app sets
  /// another.
  ///
  /// The main queue needs a main thread that runs it: `dispatchMain()`, `RunLoop.main.run()` or an
  /// `async` main. A closure that belongs to an actor is called on that actor, whatever the queue.
  public var callbackQueue: DispatchQueue {
    get { callbacks.queue }
    set { callbacks.queue = newValue }
  }

  /// Values that the app keeps with the account, such as a name to show.
  ///
  /// They are stored with the next token, after a sign-in or a refresh, or by ``settle()``. If the app
  /// sets none, they are those in the store. A sign-out keeps them for the next sign-in, so an app whose users
  /// change must set them again.
  public var attributes: [String: String] {
    get { context.attributes }
    set { context.attributes = newValue }
  }
}

// MARK: - The client

extension AuthorizationModule {
  /// The client that the module works for; `nil` if no usable one was registered.
  public var configuration: ClientConfiguration? { try? context.configuration.get() }

  /// Sets the client for which the module works, from the next operation on.
  ///
  /// Any thread may call it. An operation that is under way continues with the earlier client. The
  /// token stays, but only the client that got it can refresh or revoke it, and only at the server
  /// that issued it. With another client or server that fails with
  /// ``SQOAuthError/Code/invalidConfiguration`` until the next sign-in. A refresh that failed with
  /// the earlier client can be tried again at once, unless the server asked for a pause.
  ///
  /// If neither the provider nor the app named an API, tokens go to the server of the app's first
  /// request (``ClientConfiguration/resourceOrigins``). When the provider changes, that permission
  /// ends. Permissions for servers that the app named stay.
  public func register(_ configuration: ClientConfiguration) {
    configure(.success(configuration))
  }

  /// Uses another client from the next operation on; the token stays.
  func configure(_ configuration: Result<ClientConfiguration, SQOAuthError>) {
    context.configuration = configuration
    session.configurationDidChange()
  }
}

// MARK: - The current token

extension AuthorizationModule {
  /// The current token, or `nil`; it may have expired.
  public var currentToken: SQToken? { session.token }

  /// The current token if it is valid now, without waiting for anything.
  ///
  /// A token that can be refreshed counts as expired early: by a tenth of its life, and at most by
  /// 30 s.
  public var validToken: SQToken? { session.validToken }

  /// Whether a token is in memory, expired or not; ``restore()`` also looks into the store.
  public var hasAccessToken: Bool { session.token != nil }

  /// Whether there is a token that has not expired.
  public var isAuthorized: Bool { session.isAuthorized }

  /// The header fields for a request with the current token; `nil` if that token is not valid.
  public var authorizationFields: [String: String]? {
    guard let token = session.validToken else { return nil }
    let fields = requestAuthenticator.headerFields(for: token)
    return Dictionary(fields.map { ($0.name, $0.value) }) { first, _ in first }
  }

  /// The session's events from now on, such as refreshes; the stream ends with the module.
  ///
  /// A reader that falls behind loses the oldest events after the newest 100.
  public var events: AsyncStream<SessionEvent> { session.observers.stream(atMost: 100) }
}

// MARK: - Getting a valid token

extension AuthorizationModule {
  /// Returns a token that is valid now: the current one, or one that is refreshed first.
  ///
  /// If no token is in memory, the store is read. Cancelling the task ends only the wait. So does
  /// ``ClientConfiguration/timeout``: the refresh goes on, since its answer may be the only copy of
  /// the next refresh token, and a later call gets its token. Before the program ends, call
  /// ``settle()``.
  ///
  /// - Throws: ``SQOAuthError``: ``SQOAuthError/Code/notAuthorized`` if there is no token, or an
  ///   expired one that cannot be refreshed; ``SQOAuthError/Code/requestTimedOut`` if the refresh
  ///   takes longer than this call may wait; otherwise the reason why the refresh failed.
  public func token() async throws(SQOAuthError) -> SQToken {
    if let token = session.validToken { return token }
    return try await session.token(.valid)
  }

  /// Gets a fresh token from the server, even if the current one is valid.
  ///
  /// If a refresh is under way, this call joins it. It waits no longer than ``token()`` does.
  @discardableResult
  public func refresh() async throws(SQOAuthError) -> SQToken {
    try await session.token(.new(since: session.renewals))
  }

  /// Returns when no refresh is under way and the store has the newest token.
  ///
  /// Call it before the program ends: otherwise a refresh token that is on its way would be lost,
  /// tokens that the server issues to a sign-in that was cancelled meanwhile would not be revoked,
  /// and other hosts would wait for the account. Cancelling the task does not end the call.
  ///
  /// A refresh that was sent ends within 100 s. If the store could not save a one-time token, it is
  /// offered again every second, for 30 s. Leases of a database are given back and its other hosts
  /// told, for 5 s at most. A refresh that only waits because another process has the account fails
  /// with ``SQOAuthError/Code/accountInUse``: nothing is lost by it.
  ///
  /// - Throws: ``SQOAuthError``: the reason why the newest token could not be stored, so that it is
  ///   lost when the program ends; or why the store still has an account that was signed out.
  public func settle() async throws(SQOAuthError) {
    await unclaimed.settle()
    try await session.settle()
  }

  /// Gets a valid token: the current one, a refreshed one, or one from a sign-in in the browser.
  ///
  /// The browser opens if there is no token, or if the refresh fails with an error whose
  /// ``SQOAuthError/requiresSignIn`` is `true`. Any other error of the refresh is thrown. However
  /// many callers need the browser at a time, it opens once for all of them.
  @discardableResult
  public func requestAccess() async throws(SQOAuthError) -> SQToken {
    try await requestAccess(SignIn.Wish())
  }

  func requestAccess(
    _ wish: SignIn.Wish, on screen: SignIns.Screen? = nil
  ) async throws(SQOAuthError) -> SQToken {
    while true {
      let endCount = signIns.endCount
      do throws(SQOAuthError) {
        return try await token()
      } catch {
        guard error.requiresSignIn, !context.usesClientCredentials else { throw error }
        // Another caller may have signed in by the time that this one continues.
        if let token = try await signIn(wish, since: endCount, on: screen) { return token }
      }
    }
  }

  /// Makes the access token count as expired, so that its next use refreshes it.
  ///
  /// Call it if the app learns from a resource server that the token is no longer valid.
  public func invalidateAccessToken() {
    session.invalidate()
  }

  /// Forgets the token and its refresh token, like ``signOut()``.
  ///
  /// It has this name for apps that were written for the library Heimdall.
  public func clearAccessToken() async throws(SQOAuthError) {
    try await signOut()
  }

  /// Loads the account's record from the store; returns whether there is a token now.
  ///
  /// ``token()`` does this by itself; call this if the app must know at launch.
  @discardableResult
  public func restore() async throws(SQOAuthError) -> Bool {
    if session.token != nil { return true }
    return try await session.restore()
  }
}

// MARK: - The timer

extension AuthorizationModule {
  /// Whether the module refreshes the token by itself before it expires.
  ///
  /// The refresh starts when 11 to 12 percent of the token's life is left, but at most 550 to 600 s
  /// before the expiry. The moment is random, so that the clients of a server do not all come at
  /// once. After a failure the module waits 1 s, then 2 s, up to 60 s, or as long as the server
  /// asks, and tries again. The timer stops when the session ends and when the module is released;
  /// it counts time in which the machine was suspended.
  public var refreshesAutomatically: Bool {
    get { session.isUpdating }
    set { session.updates(newValue) }
  }
}

// MARK: - Ending

extension AuthorizationModule {
  /// Makes the authorization server end the refresh token and the access token, then forgets them.
  ///
  /// A token that the server does not know counts as ended. If anything fails, the tokens are kept
  /// and the call can be repeated. Without a token it does nothing and sends no request.
  ///
  /// - Throws: ``SQOAuthError``: ``SQOAuthError/Code/revocationUnsupported`` if the provider offers
  ///   no revocation, or the server's error, with ``SQOAuthError/retryAfter`` if a busy server
  ///   names a time.
  /// - SeeAlso: RFC 7009
  public func revoke() async throws(SQOAuthError) {
    try await session.end(.revoked) { record throws(SQOAuthError) in
      try await context.revoke(record)
    }
  }

  /// Forgets the token and its refresh token, in memory at once and then in the store.
  ///
  /// The server gets no request. A sign-in under way is cancelled; an operation that begins after
  /// this call is not affected.
  ///
  /// - Throws: ``SQOAuthError/Code/storeFailed`` if the store still has the account.
  public func signOut() async throws(SQOAuthError) {
    try await forgetSession().wait().get()
  }

  /// Cancels the sign-in under way and forgets the token.
  ///
  /// The token leaves memory at once, and the store when the returned change is made. An operation
  /// that begins after this call is not affected.
  @discardableResult
  func forgetSession() -> StoreWrites.PendingWrite {
    signIns.cancel()
    return session.end(.signedOut)
  }
}
