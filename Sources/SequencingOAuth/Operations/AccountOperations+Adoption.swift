/// Methods that continue with a token that the app already has.
extension AccountOperations {
  /// Replaces the current token with one from the app, and returns when the store has it.
  ///
  /// Use it for a token from another program or an earlier library. In memory the token is current
  /// at once. The SDK sends no request. The token is refreshed like any other: when it is needed,
  /// and before it expires if ``refreshesAutomatically`` is set.
  ///
  /// If the account already has a newer token, in memory or in the store, `token` is an outdated
  /// copy whose refresh token must not be used again; the newer token stays and is returned. A
  /// `token` without an ``SQToken/issueDate`` counts as newer than the account's token. To change
  /// the user, first sign the current user out.
  ///
  /// Any thread or task may call this; cancelling the task does not stop it.
  ///
  /// - Returns: The token that is current now; it may have expired.
  /// - Throws: ``SQOAuthError``: ``SQOAuthError/Code/notRegistered`` or
  ///   ``SQOAuthError/Code/invalidConfiguration`` if the module has no usable client; nothing
  ///   changes in this case. ``SQOAuthError/Code/storeFailed`` or another error of the store; the
  ///   token is current nevertheless, and the SDK stores it later. ``SQOAuthError/Code/cancelled``
  ///   if the user was signed out in the meantime.
  @discardableResult
  public func adopt(_ token: SQToken) async throws(SQOAuthError) -> SQToken {
    try await module.beginAdoption(of: token)()
  }

  /// Replaces the current token with one from the app, and calls the completion when the store has
  /// it.
  ///
  /// The completion is called once: on its actor if it belongs to one, and otherwise on
  /// ``callbackQueue``. It gets what ``adopt(_:)`` returns or throws.
  public func adopt(
    _ token: SQToken,
    completion: @escaping @isolated(any) (Result<SQToken, SQOAuthError>) -> Void
  ) {
    let finish = Result { () throws(SQOAuthError) in try module.beginAdoption(of: token) }
    module.callbacks.complete(completion) { () throws(SQOAuthError) in try await finish.get()() }
  }

  // MARK: A refresh

  /// Refreshes a token that the app saved, and makes the new token the current one.
  ///
  /// If the account already has a newer token, in memory or in the store, `token` is an outdated
  /// copy, and the newer token is refreshed instead. A `token` without an ``SQToken/issueDate``
  /// counts as newer. To change the user, first sign the current user out. From now on the SDK
  /// refreshes the token before it expires.
  ///
  /// - Throws: ``SQOAuthError``: ``SQOAuthError/Code/notRegistered`` or
  ///   ``SQOAuthError/Code/invalidConfiguration`` if there is no usable client, otherwise the
  ///   reason why the refresh failed.
  @discardableResult
  public func refresh(with token: SQToken) async throws(SQOAuthError) -> SQToken {
    try await module.renewal(of: token)()
  }

  /// Refreshes a token that the app saved, and passes the new one to the completion.
  ///
  /// The completion is called once: on its actor if it belongs to one, and otherwise on
  /// ``callbackQueue``. It gets what ``refresh(with:)`` returns or throws.
  public func refresh(
    with token: SQToken,
    completion: @escaping @isolated(any) (Result<SQToken, SQOAuthError>) -> Void
  ) {
    module.callbacks.complete(completion, module.renewal(of: token))
  }
}

extension AuthorizationModule {
  /// Makes a token the current one at once, and returns a closure that waits for the store.
  fileprivate func beginAdoption(
    of token: SQToken
  ) throws(SQOAuthError) -> @Sendable () async throws(SQOAuthError) -> SQToken {
    let finish = session.adopt(try context.record(of: token, id: accountID))
    return { [session] () throws(SQOAuthError) in
      if let error = await finish() { throw error }
      guard let current = session.token else { throw .endedMeanwhile }
      return current
    }
  }

  /// Makes the app's saved token the current token, and refreshes it automatically from now on.
  ///
  /// The returned closure waits until the SDK has looked for a newer token in the store.
  func resume(_ token: SQToken) throws(SQOAuthError) -> @Sendable () async -> Void {
    let finish = session.adopt(try context.record(of: token, id: accountID))
    refreshesAutomatically = true
    return { _ = await finish() }
  }

  /// Makes the app's saved token the current token; reports an error as an event.
  func launch(_ token: SQToken?) {
    do throws(SQOAuthError) {
      guard let token else { throw .emptyToken }
      let finish = try resume(token)
      Task { await finish() }
    } catch {
      session.observers.tell(.refreshFailed(error))
    }
  }

  /// Makes a token the current one at once, and returns a closure that gets a fresh one.
  func renewal(of token: SQToken) -> @Sendable () async throws(SQOAuthError) -> SQToken {
    // Read the number of renewals before `resume`. If another part of the app has resumed the same
    // token, its refresh may end during this call, and then counts as the new token.
    let since = session.renewals
    let resumed = Result { () throws(SQOAuthError) in try resume(token) }
    return { [session] () throws(SQOAuthError) in
      try await resumed.get()()
      return try await session.token(.new(since: since))
    }
  }
}
