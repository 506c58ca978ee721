import SQBasics

// Takes over tokens from a sign-in or another grant, from the app, and from the store.
extension TokenSession {
  /// Takes over a token: saves it in the store first, then keeps it in memory.
  ///
  /// `appEndCount` is the number of times the app had ended the session when the token was
  /// requested. If the app has ended the session since then, the call throws. If the store fails,
  /// the token is still kept in memory, because the server may never issue it again; the event
  /// ``SessionEvent/refreshFailed(_:)`` reports the failure. Requests that wait for a token fail,
  /// unless the user is known to be the same, or `owner` is the user whom the sign-in demanded.
  ///
  /// - Returns: The token's owner; `nil` if another takeover has invalidated this one.
  @discardableResult
  func takeOver(
    _ record: AccountRecord, since appEndCount: Int, ofSameUserAs owner: RequestOwner? = nil
  ) async throws(SQOAuthError) -> RequestOwner? {
    let begun = decide { $0.appEndCount == appEndCount ? $0.beginTakeover() : nil }
    guard let (change, superseded) = begun else { throw .signInCancelled }
    superseded?.supersede()
    let kept = await keep(record, by: change, ofSameUserAs: owner)
    guard self.appEndCount == appEndCount else { throw .signInCancelled }
    return kept
  }

  /// Gets the first token of a client that acts on its own behalf.
  ///
  /// If the caller's task is cancelled or reaches its time limit, the request continues, and other
  /// callers get its token or its error.
  func obtain(until end: ContinuousClock.Instant?) async throws(SQOAuthError) {
    let begun = decide { state in
      // If another caller came first, this caller waits for that caller's token.
      state.record == nil && state.changeUnderWay == nil ? state.beginTakeover().0 : nil
    }
    guard let change = begun else { return }
    change.work.start { await self.obtain(by: change) }
    _ = try await outcome(of: change, until: end)
  }

  private func obtain(by change: TokenChange) async {
    do throws(SQOAuthError) {
      let client = try await context.client().provingAnew()
      let scope = client.configuration.scope
      try await ClientCredentialsGrant(client: client, tokenRequests: context.tokenRequests)
        .run(scope: scope) { token throws(SQOAuthError) in
          let record = context.record(
            of: token, from: client, .clientCredentials(scope: scope), id: account.id)
          guard await keep(record, by: change) != nil else { throw .waitCancelled }
        }
    } catch {
      let now = now
      if decide({ $0.fail(change, error, at: now) }) { tellBackOff(after: error) }
      change.finish()
    }
  }

  /// Saves the record of a takeover in the store, then keeps it in memory, and ends the takeover.
  ///
  /// - Returns: The token's owner; `nil` if the takeover was invalidated, so that the session has
  ///   another token or none.
  private func keep(
    _ record: AccountRecord, by change: TokenChange, ofSameUserAs owner: RequestOwner? = nil
  ) async -> RequestOwner? {
    let account = account
    let write = decide { state -> StoreWrites.PendingWrite? in
      guard state.isCurrent(change) else { return nil }
      state.willTake(record)
      return addSave(of: record, in: account, &state)
    }
    var kept: RequestOwner?
    if let write {
      let error = await account.made(write).error
      let now = now
      kept = decide { state in
        guard state.isCurrent(change) else { return nil }
        state.take(record, ofSameUserAs: owner, at: now)
        state.didSave(record, error, at: now)
        if let error { state.report(.refreshFailed(error)) }
        state.end(change)
        return state.owner
      }
    }
    changed()
    change.finish()
    return kept
  }

  /// Takes over a token that the app has stored, and keeps it in memory immediately.
  ///
  /// A token that is not newer than those in memory and in the store, or than the token that a
  /// sign-in saves there now, is ignored: it may be an outdated copy, and its refresh token must not
  /// be used again.
  ///
  /// - Returns: A closure that saves the token in the store and returns the store's error or `nil`.
  ///   Other callers wait until the closure has run.
  func adopt(_ record: AccountRecord) -> @Sendable () async -> SQOAuthError? {
    let now = now
    let (begun, newer) = decide {
      state -> ((TokenChange, superseded: TokenChange?)?, TokenChange?) in
      let newest = state.changeUnderWay?.incoming ?? state.record
      if let newest, !newest.token.isOlder(than: record.token) {
        return (nil, state.changeUnderWay)
      }
      let begun = state.beginTakeover()
      state.adopt(record, at: now)
      return (begun, nil)
    }
    guard let (change, superseded) = begun else {
      return {
        // A newer token that is being saved comes into memory then.
        if newer?.incoming != nil { _ = await newer?.work.outcome.wait() }
        return nil
      }
    }
    superseded?.supersede()
    return {
      // The caller's cancellation must not end the wait for the lease or the reading of the store.
      await uncancelled {
        let account = self.account
        let error = await account.leased { _ in
          await self.bringIntoStore(record, by: change, in: account)
        }
        self.decide { $0.end(change) }
        self.changed()
        change.finish()
        return error
      }
    }
  }

  private func bringIntoStore(
    _ record: AccountRecord, by change: TokenChange, in account: StoredAccount
  ) async -> SQOAuthError? {
    let error = await save(record, unlessNewer: await account.look(), in: account) {
      $0.isCurrent(change)
    }
    decide { state in
      if let error, state.isCurrent(change) { state.report(.refreshFailed(error)) }
    }
    return error
  }

  /// Reads the store's record into memory, unless there is already a record in memory.
  ///
  /// The record must be from the client in `settings`; without them, from the current client. The
  /// wait for earlier changes of the account in the store ends at `end`.
  ///
  /// - Returns: Whether there is a record in memory now.
  @discardableResult
  func restore(
    for settings: ClientContext.Settings? = nil, until end: ContinuousClock.Instant? = nil
  ) async throws(SQOAuthError) -> Bool {
    while true {
      let ends = ends
      // The observation starts before the record is read, so that no later change is missed.
      observe()
      let account = account
      let found = await account.look(until: end)
      // If the app has set another store meanwhile, the account is the one in that store.
      guard account === self.account else { continue }
      if let record = try found.get() {
        try restore(record, in: account, since: ends, for: settings)
      }
      let (isHeld, change) = decide { ($0.record != nil, $0.changeUnderWay) }
      if isHeld { return true }
      guard account === self.account else { continue }
      // A sign-in that is being saved comes into memory then.
      guard let change, change.incoming != nil else { return false }
      _ = try await outcome(of: change, until: end)
    }
  }

  /// Puts a record that was just read from the store into memory, unless there is already one, the
  /// app has set another store, or a sign-in is being saved.
  ///
  /// `ends` is the number of times the session had ended when the record was read. Returns whether
  /// there is a record in memory now.
  @discardableResult
  package func restore(
    _ record: AccountRecord, in account: StoredAccount, since ends: Int,
    for settings: ClientContext.Settings? = nil
  ) throws(SQOAuthError) -> Bool {
    try context.check(record, by: settings)
    context.resumeAttributes(of: record)
    let now = now
    let isHeld = decide { state in
      if state.record == nil, state.ends == ends, account === self.account,
        state.changeUnderWay?.incoming == nil
      {
        account.saw(record)
        state.hold(record, at: now)
      }
      return state.record != nil
    }
    changed()
    return isHeld
  }
}
