import SQBasics

// The ways in which a session ends: by the app, after a last use of its token, or by a renewal.
extension TokenSession {
  /// Ends the session: in memory immediately, and then in the store.
  ///
  /// The returned value resolves when the store has erased the account, or has failed to do so. A
  /// session that begins after this call is not affected. `beforeReport` runs after the session has
  /// ended in memory, and before its observers learn that.
  @discardableResult
  func end(
    _ reason: SessionEnd, beforeReport: () -> Void
  ) -> StoreWrites.PendingWrite {
    let (account, superseded, write) = decide { state in
      let account = self.account
      return (account, state.end(reason, isByApp: true), account.add(.erase))
    }
    beforeReport()
    // If the app sets another store now, `changed()` only makes the changes in that store.
    account.makeChanges(here: false)
    changed()
    superseded?.supersede()
    return write
  }

  /// Ends the session for a reason that a renewal found, unless the renewal was invalidated.
  ///
  /// A running sign-in continues, because only a new sign-in can provide a token now.
  ///
  /// - Returns: Whether the session ended.
  @discardableResult
  func end(
    _ reason: SessionEnd, foundBy change: TokenChange, in account: StoredAccount,
    erases: Bool = true
  ) -> Bool {
    decide { state in
      guard state.isCurrent(change) else { return false }
      let token = state.token
      _ = state.end(reason, isByApp: false)
      if erases { _ = account.addEraseOfRefused(token) } else { account.sawNothing() }
      return true
    }
  }

  /// Runs `work` with the session's record, then ends the session; no renewal runs in the meantime.
  ///
  /// If `work` fails, the session does not end. If there is no token in memory or in the store, the
  /// call does nothing.
  ///
  /// - Throws: ``SQOAuthError/Code/sessionReplaced`` as ``conditionallyEnd(_:if:)`` does.
  package func end(
    _ reason: SessionEnd, after work: (AccountRecord) async throws(SQOAuthError) -> Void
  ) async throws(SQOAuthError) {
    try await conditionallyEnd(reason) { record throws(SQOAuthError) in
      try await work(record)
      return true
    }
  }

  /// Ends the session if `isOver` returns `true` for its record; no renewal runs in the meantime.
  ///
  /// If `isOver` fails, the session does not end. If there is no token in memory or in the store,
  /// the call does nothing. If the store has the sign-in of another client, the session ends in
  /// memory only.
  ///
  /// If the store cannot be read, `isOver` gets the record in memory. If it returns `true`, it is
  /// called again for a newer record that the store then has. If the store still cannot be read,
  /// the session ends in memory, and the store erases only the record of this sign-in, as soon as
  /// it can be read. If the task is cancelled before the store is read, `isOver` is not called, and
  /// the session does not end.
  ///
  /// - Throws: The store's error if it cannot be read, unless the account's record is damaged;
  ///   ``SQOAuthError/Code/sessionReplaced`` if another process has signed a user in, or if
  ///   another user signed in while the call waited for a change of the token: `isOver` got the
  ///   earlier sign-in's record, and the session continues with the new sign-in.
  package func conditionallyEnd(
    _ reason: SessionEnd, if isOver: (AccountRecord) async throws(SQOAuthError) -> Bool
  ) async throws(SQOAuthError) {
    let (asked, owner) = decide { ($0.record, $0.owner) }
    guard let (held, current, change) = try await reserve() else { return }
    let earlier = owner.permits(current) ? nil : asked
    let account = account
    defer {
      decide { $0.end(change) }
      changed()
      change.finish()
    }
    try await account.leased { _ throws(SQOAuthError) in
      if let earlier {
        _ = try await isOver(earlier)
        throw .signInReplaced(ofAccount: account.id)
      }
      var newest = await newest(held, in: account)
      // The store may have refused the read only because of the cancellation.
      if let unread = newest.unread, Task.isCancelled { throw unread }
      var ends = try await isOver(newest.record)
      if ends, newest.unread != nil {
        newest = await self.newest(held, in: account)
        if !newest.record.token.isSame(as: held.token) { ends = try await isOver(newest.record) }
      }
      if let next = newest.next, takeOver(next, by: change, in: account) {
        throw .signInReplaced(ofAccount: account.id)
      }
      guard ends else {
        if let unread = newest.unread { throw unread }
        return
      }
      let erased = decide { state -> StoreWrites.PendingWrite? in
        guard state.isCurrent(change) else { return nil }
        _ = state.end(reason, isByApp: true)
        guard newest.next == nil else {
          account.sawNothing()
          return nil
        }
        return newest.unread == nil ? account.add(.erase) : account.addErase(ofUnread: held)
      }
      if let erased { try await account.made(erased).get() }
      // Even if the erasure has succeeded, `isOver` did not get the tokens that only the store had.
      if let unread = newest.unread { throw unread }
    }
  }

  /// What is known about the session's sign-in before it ends.
  private struct Newest {
    /// The newest known record of the sign-in.
    let record: AccountRecord
    /// The record of another process's sign-in that has replaced it in the store; `nil` if there is
    /// none.
    var next: AccountRecord?
    /// The reason why the store could not be read; it may have a newer record.
    var unread: SQOAuthError?
  }

  private func newest(_ held: AccountRecord, in account: StoredAccount) async -> Newest {
    switch await account.look() {
    // No process can use a damaged record.
    case .failure(let error) where error.code == .storeDamaged: Newest(record: held)
    case .failure(let error): Newest(record: held, unread: error)
    case .success(let stored?) where account.prefers(stored, to: held):
      stored.isOfAnotherSignIn(than: held)
        ? Newest(record: held, next: stored) : Newest(record: stored)
    case .success: Newest(record: held)
    }
  }

  /// Takes over the record of another process's sign-in; returns `false` if the change was
  /// invalidated, or if the record is of another client or server.
  private func takeOver(
    _ next: AccountRecord, by change: TokenChange, in account: StoredAccount
  ) -> Bool {
    guard (try? context.check(next)) != nil else { return false }
    let now = now
    return decide { state in
      guard state.isCurrent(change) else { return false }
      account.saw(next)
      state.takeFromStore(next, at: now)
      return true
    }
  }

  /// Starts a change, so that no other caller changes the token until the change ends; returns the
  /// record and its owner, too.
  ///
  /// Returns `nil` if there is no token in memory or in the store.
  private func reserve() async throws(SQOAuthError) -> (AccountRecord, RequestOwner, TokenChange)? {
    while true {
      try await waitForChange()
      if token == nil, try await !restore() { return nil }
      let reserved = decide { state -> (AccountRecord, RequestOwner, TokenChange)? in
        guard let record = state.record, state.changeUnderWay == nil else { return nil }
        return (record, state.owner, state.beginTakeover().0)
      }
      if let reserved { return reserved }
    }
  }
}
