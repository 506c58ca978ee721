import SQBasics

// Waits until the store has the newest state, at the end of a program.
extension TokenSession {
  /// Tries every second to save the newest token, until an attempt succeeds or `waits` returns
  /// `false`.
  ///
  /// - Returns: The store's error if the token is only in memory.
  package func saveAgain(while waits: () -> Bool) async -> SQOAuthError? {
    while let error = unsavedError {
      guard waits() else { return error }
      try? await Task.sleep(for: .seconds(1))
      _ = await flushOnce()
    }
    return nil
  }

  /// Waits until no change of the token is running and the store has the newest state.
  ///
  /// That state includes attributes that the app has set since the last record was saved. The
  /// method is for the end of a program: a refresh no longer waits for another process that uses
  /// the account, and a failing store gets several attempts to save a token that the server will
  /// not issue again.
  ///
  /// - Throws: The reason why the newest token is only in memory, why an ended session was not
  ///   erased, or why the app's new attributes could not be stored.
  func flush() async throws(SQOAuthError) {
    // This runs in a separate task, because the end of a program may have cancelled the caller's
    // task.
    let flushing = Task { () -> SQOAuthError? in
      let error = await account.hurrying { await flushRepeatedly() }
      await account.flush()
      return error
    }
    if let error = await flushing.value { throw error }
  }

  /// Waits until the account has no token request either, and the store has the newest state.
  func flushWithRequests() async throws(SQOAuthError) {
    // The end of a program may have cancelled the caller's task.
    let failure = await uncancelled {
      await self.context.tokenRequests.flush { () async -> SQOAuthError? in
        do throws(SQOAuthError) {
          try await self.flush()
          return nil
        } catch {
          return error
        }
      }
    }
    if let failure { throw failure }
  }

  private func flushRepeatedly() async -> SQOAuthError? {
    let retryTime = context.environment.storeRetryTime
    let end = ContinuousClock.now + retryTime
    while let error = await flushOnce() {
      guard isOneTimeTokenUnsaved, ContinuousClock.now < end else { return error }
      try? await Task.sleep(for: retryTime / 30)
    }
    return nil
  }

  /// Whether the unsaved token cannot be obtained again, because its refresh used up the stored
  /// refresh token.
  private var isOneTimeTokenUnsaved: Bool {
    guard unsavedError != nil, let record else { return false }
    return record.token.refreshToken != nil && !record.reusesRefreshToken
      && !context.reusesRefreshTokens
  }

  /// Waits for the running change and one attempt to save; returns the store's error.
  private func flushOnce() async -> SQOAuthError? {
    _ = try? await waitForChange()
    await account.allMade()
    await saveAgain(at: nil)
    let attributesError = await saveAttributes()
    if let write = account.eraseAgain() { _ = await account.made(write) }
    changed()
    return unsavedError ?? account.failedErase ?? attributesError
  }
}
