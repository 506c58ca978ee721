import Basics

// How a session ends: by the app, after work with its token, or because of what a renewal found.
extension TokenSession {
  /// Ends the session: in memory at once, and in the store when the returned change is made.
  ///
  /// What begins after this call is not touched.
  @discardableResult
  func end(_ reason: SessionEnd) -> StoreWrites.Write {
    let (void, write) = decide { ($0.end(reason, isDismissal: true), account.add(.erase)) }
    changed()
    void?.makeVoid()
    return write
  }

  /// Ends the session because of what a renewal found, unless the renewal was made void.
  ///
  /// A sign-in that is under way goes on: it is what helps now.
  ///
  /// - Returns: Whether the session ended.
  @discardableResult
  func end(_ reason: SessionEnd, foundBy change: TokenChange, erases: Bool = true) -> Bool {
    decide { state in
      guard state.isCurrent(change) else { return false }
      _ = state.end(reason, isDismissal: false)
      if erases { _ = account.add(.erase) } else { account.sawNothing() }
      return true
    }
  }

  /// Ends the session once work with its token has succeeded; the token is not renewed meanwhile.
  ///
  /// Without a token, in memory or in the store, nothing is done.
  func end(
    _ reason: SessionEnd, after work: (AccountRecord) async throws(SQOAuthError) -> Void
  ) async throws(SQOAuthError) {
    guard let (record, change) = try await reserve() else { return }
    defer {
      decide { $0.end(change) }
      changed()
      change.finish()
    }
    try await account.leased { _ throws(SQOAuthError) in
      try await work(await newest(record))
      let erased = decide { state -> StoreWrites.Write? in
        guard state.isCurrent(change) else { return nil }
        _ = state.end(reason, isDismissal: true)
        return account.add(.erase)
      }
      if let erased { try await account.made(erased).get() }
    }
  }

  /// The record that is held, or the record that another process has stored since.
  private func newest(_ held: AccountRecord) async -> AccountRecord {
    guard case .success(let stored?) = await account.look() else { return held }
    return account.prefers(stored, to: held) ? stored : held
  }

  /// Keeps every other caller from changing the token until the change is ended.
  private func reserve() async throws(SQOAuthError) -> (AccountRecord, TokenChange)? {
    while true {
      try await settled()
      if token == nil, try await !restore() { return nil }
      let reserved = decide { state -> (AccountRecord, TokenChange)? in
        guard let record = state.record, state.changeUnderWay == nil else { return nil }
        return (record, state.beginTakeover().0)
      }
      if let reserved { return reserved }
    }
  }
}
