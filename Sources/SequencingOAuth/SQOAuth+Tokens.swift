/// The token after the sign-in, by way of the ``module``.
extension SQOAuth {
  // MARK: Pull

  /// The current token, or `nil`; it may have expired.
  ///
  /// From any thread, without waiting.
  public var currentToken: SQToken? { module.currentToken }

  /// The current token if it is valid now.
  ///
  /// From any thread, without waiting.
  public var validToken: SQToken? { module.validToken }

  /// Whether there is a token that has not expired.
  public var isAuthorized: Bool { module.isAuthorized }

  /// A token that is valid now: the current one, or one that is refreshed first.
  ///
  /// - Throws: ``SQOAuthError``: ``SQOAuthError/Code/notAuthorized`` if there is none, otherwise why
  ///   the refresh failed.
  public func token() async throws(SQOAuthError) -> SQToken {
    try await module.token()
  }

  /// Gets a fresh token although the current one may be valid.
  @discardableResult
  public func refresh() async throws(SQOAuthError) -> SQToken {
    try await module.refresh()
  }

  /// Takes the token from the store, if there is one; returns whether there is a token now.
  @discardableResult
  public func restore() async throws(SQOAuthError) -> Bool {
    try await module.restore()
  }

  /// Returns when no refresh is under way and the store has the newest token; see
  /// ``AuthorizationModule/settle()``.
  public func settle() async throws(SQOAuthError) {
    try await module.settle()
  }

  /// Whether the token is refreshed before it expires, without being asked for.
  ///
  /// It is `true` unless the app sets it to `false`; see
  /// ``AuthorizationModule/refreshesAutomatically``.
  public var refreshesAutomatically: Bool {
    get { module.refreshesAutomatically }
    set { module.refreshesAutomatically = newValue }
  }

  // MARK: A token that the app kept

  /// Makes a token that the app holds the current one, at once, and returns when it is stored; see
  /// ``AuthorizationModule/adopt(_:)``.
  @discardableResult
  public func adopt(_ token: SQToken) async throws(SQOAuthError) -> SQToken {
    try await module.adopt(token)
  }

  /// Gets a fresh token by the refresh token of one that the app kept, and goes on from there.
  ///
  /// A token that is older than the one held or stored is an outdated copy of it, and that one is
  /// refreshed instead: to change the user, sign the other one out first. The token is refreshed
  /// before it expires from now on. The completion is called once, on ``callbackQueue``.
  public func withRefreshToken(
    _ token: SQToken,
    updateAccessToken completion: @escaping @isolated(any) (Result<SQToken, SQOAuthError>) -> Void
  ) {
    let since = module.session.renewals
    let resumed = Result { () throws(SQOAuthError) in try resume(token) }
    module.callbacks.complete(completion) { [module] () throws(SQOAuthError) in
      try await resumed.get()()
      return try await module.session.token(.new(since: since))
    }
  }

  /// Gets a fresh token by the refresh token of one that the app kept, and goes on from there.
  ///
  /// A token that is older than the one held or stored is an outdated copy of it, and that one is
  /// refreshed instead: to change the user, sign the other one out first. The token is refreshed
  /// before it expires from now on.
  ///
  /// - Throws: ``SQOAuthError``: ``SQOAuthError/Code/notRegistered`` or
  ///   ``SQOAuthError/Code/invalidConfiguration`` when there is no usable client, otherwise why the
  ///   refresh failed.
  @discardableResult
  public func refresh(with token: SQToken) async throws(SQOAuthError) -> SQToken {
    // Noted first: another part of the app may resume the same token and be done before this one.
    let since = module.session.renewals
    try await resume(token)()
    return try await module.session.token(.new(since: since))
  }

  /// Goes on with a token that the app kept: it is the current one at once, and is refreshed before
  /// it expires, or now if it has.
  ///
  /// A token that is older than the one held or stored is an outdated copy of it, and that one
  /// stays. What goes wrong is told to the ``tokenRefreshDelegate``.
  public func launchTokenTimerUpdate(with token: SQToken) {
    do throws(SQOAuthError) {
      let finish = try resume(token)
      Task { await finish() }
    } catch {
      tell(.refreshFailed(error))
    }
  }

  private func resume(_ token: SQToken) throws(SQOAuthError) -> @Sendable () async -> Void {
    let record = try module.context.record(of: token, id: module.accountID)
    let finish = module.session.resume(record)
    module.refreshesAutomatically = true
    return finish
  }

  // MARK: Push

  /// What happens to the session from now on; the same that the ``tokenRefreshDelegate`` hears.
  public var events: AsyncStream<SessionEvent> { module.events }
}
