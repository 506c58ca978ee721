import Dispatch

/// The token after the sign-in: asked for, or told of.
extension SQOAuth {
  // MARK: Pull

  /// The current token if it is valid now: synchronous, from any thread.
  public var validToken: SQToken? { module.validToken }

  /// A token that is valid now: the one at hand, or one that is refreshed first.
  ///
  /// - Throws: ``SQOAuthError``: ``SQOAuthError/Code/notAuthorized`` where there is none, otherwise
  ///   why the refresh failed.
  public func token() async throws(SQOAuthError) -> SQToken {
    try await module.token()
  }

  /// The same for code without `async`; the completion is called once, on ``callbackQueue``.
  public func token(_ completion: @escaping @Sendable (Result<SQToken, SQOAuthError>) -> Void) {
    complete(completion) { module throws(SQOAuthError) in try await module.token() }
  }

  // MARK: A token that the app kept

  /// Gets a fresh token by the refresh token of one that the app kept, and goes on from there.
  ///
  /// A token that is older than the one held or stored is an outdated copy of it, and that one is
  /// refreshed instead: to change the user, sign the other one out first. The token is refreshed
  /// before it expires from now on. The completion is called once, on ``callbackQueue``.
  public func withRefreshToken(
    _ token: SQToken,
    updateAccessToken completion: @escaping @Sendable (Result<SQToken, SQOAuthError>) -> Void
  ) {
    let since = module.session.renewals
    let resumed = Result { () throws(SQOAuthError) in try resume(token) }
    complete(completion) { module throws(SQOAuthError) in
      try await resumed.get()()
      return try await module.session.token(.new(since: since))
    }
  }

  /// The `async` twin of ``withRefreshToken(_:updateAccessToken:)``.
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
      tellRefreshDelegate(.refreshFailed(error))
    }
  }

  private func resume(_ token: SQToken) throws(SQOAuthError) -> @Sendable () async -> Void {
    let record = try module.context.record(of: token, id: module.accountID)
    let finish = module.session.resume(record)
    module.refreshesAutomatically = true
    return finish
  }

  private func complete(
    _ completion: @escaping @Sendable (Result<SQToken, SQOAuthError>) -> Void,
    _ work: @escaping @Sendable (AuthorizationModule) async throws(SQOAuthError) -> SQToken
  ) {
    let module = module
    Task {
      let result: Result<SQToken, SQOAuthError>
      do throws(SQOAuthError) {
        result = .success(try await work(module))
      } catch {
        result = .failure(error)
      }
      self.callbackQueue.async { completion(result) }
    }
  }

  // MARK: Push

  /// What happens to the session from now on; the same that the ``tokenRefreshDelegate`` hears.
  public var events: AsyncStream<SessionEvent> { module.events }

  func tellRefreshDelegate(_ event: SessionEvent) {
    guard let delegate = tokenRefreshDelegate else { return }
    callbackQueue.async {
      switch event {
      case .refreshed(let token): delegate.tokenIsRefreshed(token)
      case .replaced(let token): delegate.sessionIsReplaced(token)
      case .refreshFailed(let error): delegate.tokenRefreshDidFail(error)
      case .ended(let reason): delegate.sessionDidEnd(reason)
      }
    }
  }
}
