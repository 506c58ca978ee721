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
  /// before it expires from now on.
  ///
  /// - Throws: ``SQOAuthError``: ``SQOAuthError/Code/notRegistered`` or
  ///   ``SQOAuthError/Code/invalidConfiguration`` when there is no usable client, otherwise why the
  ///   refresh failed.
  @discardableResult
  public func refresh(with token: SQToken) async throws(SQOAuthError) -> SQToken {
    try await renewal(of: token)()
  }

  /// Does what ``refresh(with:)`` does; the pod's name.
  ///
  /// The completion gets the fresh token, or `nil` if there is none; ``refresh(with:completion:)``
  /// says why. It is called once: on its actor if it belongs to one, and otherwise on
  /// ``callbackQueue``. Without a token to begin with it gets `nil` too.
  public func withRefreshToken(
    _ token: SQToken?, updateAccessToken completion: @escaping @isolated(any) (SQToken?) -> Void
  ) {
    let fresh = token.map { renewal(of: $0) }
    module.callbacks.complete(with: completion) { try? await fresh?() }
  }

  /// Makes a token the current one, at once; what is returned gets a fresh one.
  func renewal(of token: SQToken) -> @Sendable () async throws(SQOAuthError) -> SQToken {
    // Noted first: another part of the app may resume the same token and be done before this one.
    let since = module.session.renewals
    let resumed = Result { () throws(SQOAuthError) in try module.resume(token) }
    return { [module] () throws(SQOAuthError) in
      try await resumed.get()()
      return try await module.session.token(.new(since: since))
    }
  }

  /// Goes on with a token that the app kept, from now on; the pod's name.
  ///
  /// It is the current token at once, and is refreshed before it expires, or now if it has. A token
  /// that is older than the one held or stored is an outdated copy of it, and that one stays. What
  /// goes wrong is an event of the ``tokenRefreshDelegate``: ``SQOAuthError/Code/notAuthorized``
  /// where there is no token.
  public func launchTokenTimerUpdate(with token: SQToken?) {
    module.launch(token)
  }

  // MARK: Push

  /// What happens to the session from now on; the same that the ``tokenRefreshDelegate`` hears.
  public var events: AsyncStream<SessionEvent> { module.events }
}
