import SQBasics

// The ways in which a session ends: by the app, after a last use of its token, or by a renewal.
extension TokenSession {
  /// Ends the session: in memory immediately, and then in the store.
  ///
  /// The returned value resolves when the store has erased the account, or has failed to do so. A
  /// session that begins after this call is not affected.
  @discardableResult
  func end(_ reason: SessionEnd) -> StoreWrites.PendingWrite {
    let (account, superseded, write) = decide { state in
      let account = self.account
      return (account, state.end(reason, isByApp: true), account.add(.erase))
    }
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
  package func end(
    _ reason: SessionEnd, after work: (AccountRecord) async throws(SQOAuthError) -> Void
  ) async throws(SQOAuthError) {
    guard let (record, change) = try await reserve() else { return }
    let account = account
    defer {
      decide { $0.end(change) }
      changed()
      change.finish()
    }
    try await account.leased { _ throws(SQOAuthError) in
      try await work(await newest(record, in: account))
      let erased = decide { state -> StoreWrites.PendingWrite? in
        guard state.isCurrent(change) else { return nil }
        _ = state.end(reason, isByApp: true)
        return account.add(.erase)
      }
      if let erased { try await account.made(erased).get() }
    }
  }

  /// Returns the record in memory, or a newer record that another process has stored.
  private func newest(
    _ held: AccountRecord, in account: StoredAccount
  ) async -> AccountRecord {
    guard case .success(let stored?) = await account.look() else { return held }
    return account.prefers(stored, to: held) ? stored : held
  }

  /// Starts a change, so that no other caller changes the token until the change ends.
  ///
  /// Returns `nil` if there is no token in memory or in the store.
  private func reserve() async throws(SQOAuthError) -> (AccountRecord, TokenChange)? {
    while true {
      try await waitForChange()
      if token == nil, try await !restore() { return nil }
      let reserved = decide { state -> (AccountRecord, TokenChange)? in
        guard let record = state.record, state.changeUnderWay == nil else { return nil }
        return (record, state.beginTakeover().0)
      }
      if let reserved { return reserved }
    }
  }
}
