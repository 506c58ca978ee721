import SQBasics

// Taking over tokens from a sign-in or another grant, from the app, and from the store.
extension TokenSession {
  /// Takes over a token: first into the store, then into memory.
  ///
  /// `dismissals` is how often the app had ended the session when the token was requested.
  /// If the store fails, the token is still kept in memory, since the server may never issue it
  /// again; the event ``SessionEvent/refreshFailed(_:)`` reports the failure. If the app has ended
  /// the session since the request, the call throws.
  func takeOver(_ record: AccountRecord, since dismissals: Int) async throws(SQOAuthError) {
    let begun = decide { $0.dismissals == dismissals ? $0.beginTakeover() : nil }
    guard let (change, void) = begun else { throw .signInCancelled }
    void?.makeVoid()
    await keep(record, by: change)
    guard self.dismissals == dismissals else { throw .signInCancelled }
  }

  /// Gets the first token of a client that acts in its own name.
  ///
  /// If the caller's task is cancelled, or the caller's time is over, the request continues for other
  /// callers, which get its token or its error.
  func obtain(until end: ContinuousClock.Instant?) async throws(SQOAuthError) {
    let begun = decide { state in
      // If another caller came first, it gets the token for this one.
      state.record == nil && state.changeUnderWay == nil ? state.beginTakeover().0 : nil
    }
    guard let change = begun else { return }
    Task { await self.obtain(by: change) }
    _ = try await outcome(of: change, until: end)
  }

  private func obtain(by change: TokenChange) async {
    do throws(SQOAuthError) {
      let client = try await context.client()
      let scope = client.configuration.scope
      let token = try await ClientCredentialsGrant(client: client, unclaimed: UnclaimedTokens())
        .run(scope: scope)
      await keep(
        context.record(of: token, from: client, .clientCredentials(scope: scope), id: account.id),
        by: change)
    } catch {
      let now = now
      _ = decide { $0.fail(change, error, at: now) }
      change.finish()
    }
  }

  /// Puts the record of a takeover first into the store, then into memory, and ends the takeover.
  private func keep(_ record: AccountRecord, by change: TokenChange) async {
    let write = decide { $0.isCurrent(change) ? account.add(.save(record)) : nil }
    if let write {
      let error = await account.made(write).error
      let now = now
      decide { state in
        guard state.isCurrent(change) else { return }
        state.hold(record, at: now)
        state.didSave(record, error, at: now)
        if let error { state.report(.refreshFailed(error)) }
        state.end(change)
      }
    }
    changed()
    change.finish()
  }

  /// Takes over a token that the app kept; it is in memory at once.
  ///
  /// A token that is older than the one in memory or in the store changes nothing: it is an
  /// outdated copy, whose refresh token must not be used again.
  ///
  /// - Returns: The work that brings the token into the store; other callers wait for it too. It
  ///   returns the store's error, or `nil`.
  func adopt(_ record: AccountRecord) -> @Sendable () async -> SQOAuthError? {
    let now = now
    let begun = decide { state -> (TokenChange, void: TokenChange?)? in
      if let held = state.record, !held.token.isOlder(than: record.token) { return nil }
      let begun = state.beginTakeover()
      state.hold(record, at: now)
      return begun
    }
    guard let (change, void) = begun else { return { nil } }
    void?.makeVoid()
    return {
      let error = await self.account.leased { _ in await self.bringIntoStore(record, by: change) }
      self.decide { $0.end(change) }
      self.changed()
      change.finish()
      return error
    }
  }

  private func bringIntoStore(
    _ record: AccountRecord, by change: TokenChange
  ) async -> SQOAuthError? {
    let error = await save(record, unlessNewer: await account.look()) { $0.isCurrent(change) }
    decide { state in
      if let error, state.isCurrent(change) { state.report(.refreshFailed(error)) }
    }
    return error
  }

  /// Reads the store's record into memory, unless there is a record in memory already.
  ///
  /// - Returns: Whether there is a record in memory now.
  func restore() async throws(SQOAuthError) -> Bool {
    let ends = ends
    // Before the record is read, so that no later change is missed.
    observe()
    guard let record = try await account.load() else { return token != nil }
    return try restore(record, since: ends)
  }

  /// Takes a record that was just read from the store into memory, unless there is one already.
  ///
  /// `ends` is how often the session had ended when the record was read. Returns whether there is a
  /// record in memory now.
  @discardableResult
  package func restore(_ record: AccountRecord, since ends: Int) throws(SQOAuthError) -> Bool {
    try context.check(record)
    context.resumeAttributes(of: record)
    let now = now
    let isHeld = decide { state in
      if state.record == nil, state.ends == ends {
        account.saw(record)
        state.hold(record, at: now)
      }
      return state.record != nil
    }
    changed()
    return isHeld
  }
}
