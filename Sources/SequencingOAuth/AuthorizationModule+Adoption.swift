/// Another token or another client for a module that exists already.
extension AuthorizationModule {
  // MARK: A token that the app holds

  /// Makes a token that the app holds the current one, at once, and returns when it is stored.
  ///
  /// It is for a token that another program or an earlier library left. No request is made. The
  /// token is refreshed as every other one is: when it is needed, and before it expires if
  /// ``refreshesAutomatically`` is set.
  ///
  /// A token that is older than the one held or stored is an outdated copy of it, whose refresh
  /// token must not be used again; then the newer one stays, and is returned. A token without an
  /// ``SQToken/issueDate`` counts as newer. To change the user, sign the other one out first.
  ///
  /// From any thread or task. Cancelling the task does not stop it.
  ///
  /// - Returns: The token that is current now; it may have expired.
  /// - Throws: ``SQOAuthError``: ``SQOAuthError/Code/notRegistered`` or
  ///   ``SQOAuthError/Code/invalidConfiguration`` when the module has no usable client, and then
  ///   nothing is taken over; ``SQOAuthError/Code/storeFailed`` or another error of the store, while
  ///   the token is current all the same and is stored later; ``SQOAuthError/Code/cancelled`` when
  ///   the user was signed out meanwhile.
  @discardableResult
  public func adopt(_ token: SQToken) async throws(SQOAuthError) -> SQToken {
    try await beginAdoption(of: token)()
  }

  /// Makes a token that the app holds the current one, at once; the completion is called when it is
  /// stored.
  ///
  /// The completion is called once: on its actor if it belongs to one, and otherwise on
  /// ``callbackQueue``. It gets what ``adopt(_:)`` returns or throws.
  public func adopt(
    _ token: SQToken,
    completion: @escaping @isolated(any) (Result<SQToken, SQOAuthError>) -> Void
  ) {
    let finish = Result { () throws(SQOAuthError) in try beginAdoption(of: token) }
    callbacks.complete(completion) { () throws(SQOAuthError) in try await finish.get()() }
  }

  /// Makes a token the current one; returns what waits for the store.
  private func beginAdoption(
    of token: SQToken
  ) throws(SQOAuthError) -> @Sendable () async throws(SQOAuthError) -> SQToken {
    let finish = session.adopt(try context.record(of: token, id: accountID))
    return { [session] () throws(SQOAuthError) in
      if let error = await finish() { throw error }
      guard let current = session.token else { throw .endedMeanwhile }
      return current
    }
  }

  /// Makes a token that the app kept the current one, at once, and refreshes it from now on; what is
  /// returned ends when the store has been asked for a newer one.
  func resume(_ token: SQToken) throws(SQOAuthError) -> @Sendable () async -> Void {
    let finish = session.adopt(try context.record(of: token, id: accountID))
    refreshesAutomatically = true
    return { _ = await finish() }
  }

  /// Makes a token that the app kept the current one; what goes wrong is an event.
  func launch(_ token: SQToken?) {
    do throws(SQOAuthError) {
      guard let token else { throw .emptyToken }
      let finish = try resume(token)
      Task { await finish() }
    } catch {
      session.observers.tell(.refreshFailed(error))
    }
  }

  // MARK: Another client

  /// The client that the module works for, or `nil` when no usable one was registered.
  public var configuration: ClientConfiguration? { try? context.configuration.get() }

  /// Works for another client from the next operation on.
  ///
  /// Any thread may call it. What is under way goes on with the client before.
  /// The token stays, and is refreshed and revoked only by the client and at the server that gave
  /// it: with any other, that fails with ``SQOAuthError/Code/invalidConfiguration`` until the next
  /// sign-in. With another provider, no server that was allowed to see tokens before may see the
  /// next ones. A refresh that failed with the client before is tried again at once, unless the
  /// server asked for time.
  public func register(_ configuration: ClientConfiguration) {
    configure(.success(configuration))
  }
}
