/// The token after the sign-in; the ``module`` holds it.
extension SQOAuth {
  // MARK: Pull

  /// The current token, or `nil`; it may have expired.
  ///
  /// Any thread may read it without waiting.
  public var currentToken: SQToken? { module.currentToken }

  /// The current token if it is valid now, otherwise `nil`.
  ///
  /// Any thread may read it without waiting.
  public var validToken: SQToken? { module.validToken }

  /// Whether there is a token that has not expired.
  public var isAuthorized: Bool { module.isAuthorized }

  /// Returns a token that is valid now: the current one, or a refreshed one.
  ///
  /// - Throws: ``SQOAuthError``: ``SQOAuthError/Code/notAuthorized`` if there is no token,
  ///   otherwise the reason why the refresh failed.
  public func token() async throws(SQOAuthError) -> SQToken {
    try await module.token()
  }

  /// Gets a fresh token from the server, even if the current one is valid.
  @discardableResult
  public func refresh() async throws(SQOAuthError) -> SQToken {
    try await module.refresh()
  }

  /// Loads the token from the store, and returns whether there is a token now.
  @discardableResult
  public func restore() async throws(SQOAuthError) -> Bool {
    try await module.restore()
  }

  /// Returns when no refresh is under way and the store has the newest token.
  ///
  /// See ``AuthorizationModule/settle()``.
  public func settle() async throws(SQOAuthError) {
    try await module.settle()
  }

  /// Whether the SDK refreshes the token automatically before it expires.
  ///
  /// It is `true` unless the app sets it to `false`; see
  /// ``AuthorizationModule/refreshesAutomatically``.
  public var refreshesAutomatically: Bool {
    get { module.refreshesAutomatically }
    set { module.refreshesAutomatically = newValue }
  }

  // MARK: A token that the app kept

  /// Replaces the current token with one from the app, and returns when the store has it.
  ///
  /// See ``AuthorizationModule/adopt(_:)``.
  @discardableResult
  public func adopt(_ token: SQToken) async throws(SQOAuthError) -> SQToken {
    try await module.adopt(token)
  }

  /// Refreshes a token that the app saved, and continues with the new one.
  ///
  /// If the account already has a newer token, in memory or in the store, the given one is an
  /// outdated copy, and the newer one is refreshed instead. To change the user, first sign the
  /// current user out. From now on the SDK refreshes the token before it expires.
  ///
  /// - Throws: ``SQOAuthError``: ``SQOAuthError/Code/notRegistered`` or
  ///   ``SQOAuthError/Code/invalidConfiguration`` if there is no usable client, otherwise the
  ///   reason why the refresh failed.
  @discardableResult
  public func refresh(with token: SQToken) async throws(SQOAuthError) -> SQToken {
    try await renewal(of: token)()
  }

  /// Refreshes a token that the app saved, like ``refresh(with:)``.
  ///
  /// It has this name for apps that were written for Sequencing.com's CocoaPods library.
  ///
  /// The completion is called once: on its actor if it belongs to one, and otherwise on
  /// ``callbackQueue``. It gets the fresh token, or `nil` if there is none or if `token` is `nil`;
  /// ``refresh(with:completion:)`` also gives the reason.
  public func withRefreshToken(
    _ token: SQToken?, updateAccessToken completion: @escaping @isolated(any) (SQToken?) -> Void
  ) {
    let fresh = token.map { renewal(of: $0) }
    module.callbacks.complete(with: completion) { try? await fresh?() }
  }

  /// Makes a token the current one at once, and returns a closure that gets a fresh one.
  func renewal(of token: SQToken) -> @Sendable () async throws(SQOAuthError) -> SQToken {
    // Read the counter first: another part of the app may resume the same token and finish before
    // this call.
    let since = module.session.renewals
    let resumed = Result { () throws(SQOAuthError) in try module.resume(token) }
    return { [module] () throws(SQOAuthError) in
      try await resumed.get()()
      return try await module.session.token(.new(since: since))
    }
  }

  /// Continues with a token that the app saved, for example at launch.
  ///
  /// It has this name for apps that were written for Sequencing.com's CocoaPods library. The token
  /// is current at once. It is refreshed before it expires, or now if it has expired. If the
  /// account already has a newer token, in memory or in the store, the given one is an outdated
  /// copy and the newer one stays. The ``tokenRefreshDelegate`` gets errors, such as
  /// ``SQOAuthError/Code/notAuthorized`` if `token` is `nil`.
  public func launchTokenTimerUpdate(with token: SQToken?) {
    module.launch(token)
  }

  // MARK: Push

  /// A stream of the session's events from now on; the ``tokenRefreshDelegate`` gets them too.
  public var events: AsyncStream<SessionEvent> { module.events }
}
