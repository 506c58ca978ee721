import LoopbackHTTP

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// What replaces or ends the token from outside, and the store, whose changes are made in the order
// in which they were asked for.
extension TokenSession {
  /// A change of the store.
  enum Change: Sendable {
    case save(AccountRecord)
    case erase
  }

  /// Takes over a token that was asked for in an epoch: into the store, then into memory.
  ///
  /// A store that fails is reported, and the token is kept in memory all the same, since the server
  /// may never give it again. Where the session was ended meanwhile, it is cancelled.
  func takeOver(
    _ record: AccountRecord, _ origin: SessionState.Origin = .refreshToken, of epoch: Int
  ) async throws(SQOAuthError) {
    let begun = state.withLock { state -> (SessionState.Takeover, Write, SessionState.Renewal?)? in
      guard state.core.ends == epoch else { return nil }
      let (takeover, void) = state.core.beginTakeover()
      return (takeover, enqueue(&state, .save(record)), void)
    }
    guard let (takeover, write, void) = begun else { throw .signInCancelled }
    void?.makeVoid()
    let saved = await write.value
    let now = now
    let isOver = state.withLock { state in
      guard state.core.isCurrent(takeover) else { return state.core.ends != epoch }
      state.core.hold(
        record, at: now, origin: origin, isStored: true, jitter: .random(in: 0...1))
      if case .failure(let error) = saved { state.core.didSave(record, error, at: now) }
      state.core.end(takeover)
      return false
    }
    changed()
    takeover.end.resolve(())
    if isOver { throw .signInCancelled }
    try saved.get()
  }

  /// Takes over a token that the app kept, in memory at once.
  ///
  /// One that is older than what is held or stored is an outdated copy of it, whose refresh token
  /// must not be used again; then what is there stays.
  ///
  /// - Returns: What remains to be done about the store; waiters wait for it too.
  func resume(_ record: AccountRecord) -> @Sendable () async -> Void {
    let now = now
    let begun = state.withLock { state -> (SessionState.Takeover, SessionState.Renewal?)? in
      if let held = state.core.record, !held.token.isOlder(than: record.token) { return nil }
      let begun = state.core.beginTakeover()
      state.core.hold(record, at: now, isStored: false, jitter: .random(in: 0...1))
      return begun
    }
    guard let (takeover, void) = begun else { return {} }
    void?.makeVoid()
    return {
      await self.reconcile(record, takeover)
      self.changed()
      takeover.end.resolve(())
    }
  }

  private func reconcile(_ record: AccountRecord, _ takeover: SessionState.Takeover) async {
    let found = await look()
    let now = now
    let write = state.withLock { state -> Write? in
      guard state.core.isCurrent(takeover) else { return nil }
      let write = save(record, unlessNewer: found, &state, at: now)
      if let error = found.error { state.events.append(.refreshFailed(error)) }
      if write == nil { state.core.end(takeover) }
      return write
    }
    guard let saved = await write?.value else { return }
    state.withLock { state in
      guard state.core.isCurrent(takeover) else { return }
      state.core.didSave(record, saved.error, at: now)
      if let error = saved.error { state.events.append(.refreshFailed(error)) }
      state.core.end(takeover)
    }
  }

  /// Saves the record that is held, unless the store has a newer one, which is taken over then.
  ///
  /// A store that could not be read is left alone: what it has may be newer.
  private func save(
    _ record: AccountRecord, unlessNewer found: Result<AccountRecord?, SQOAuthError>,
    _ state: inout State, at now: Date
  ) -> Write? {
    switch found {
    case .failure(let error):
      state.core.didSave(record, error, at: now)
    case .success(let stored?)
    where state.core.prefers(stored, to: record) && (try? context.check(stored)) != nil:
      state.core.hold(stored, at: now, isStored: true, jitter: .random(in: 0...1))
      state.events.append(.refreshed(stored.token))
    case .success:
      return enqueue(&state, .save(record))
    }
    return nil
  }

  /// Takes the store's record into memory if there is none; says whether there is one now.
  func restore() async throws(SQOAuthError) -> Bool {
    let epoch = epoch
    guard let record = try await load() else { return token != nil }
    try context.check(record)
    let now = now
    let isHeld = state.withLock { state in
      if state.core.record == nil, state.core.ends == epoch {
        state.core.hold(record, at: now, isStored: true, jitter: .random(in: 0...1))
      }
      return state.core.record != nil
    }
    changed()
    return isHeld
  }

  /// Ends the session: in memory at once, and in the store when the returned task has ended.
  ///
  /// What begins after this call is not touched.
  @discardableResult
  func end(_ reason: SessionEnd) -> Write {
    let (void, write) = state.withLock { (forget(&$0, reason), enqueue(&$0, .erase)) }
    changed()
    void.renewal?.makeVoid()
    void.takeover?.end.resolve(())
    return write
  }

  /// Ends the session because of what a renewal found out, unless that was made void meanwhile.
  func end(_ reason: SessionEnd, foundBy renewal: SessionState.Renewal) {
    state.withLock { state in
      guard state.core.isCurrent(renewal) else { return }
      _ = forget(&state, reason)
      // Where another process signed the user out, whatever is stored by now is not this session's.
      if case .refused = reason { _ = enqueue(&state, .erase) }
    }
  }

  /// Ends the session if its token is still this one and nothing is about to change it.
  func end(_ reason: SessionEnd, ifStill token: SQToken) -> Write? {
    let write = state.withLock { state -> Write? in
      guard state.core.token == token, state.core.changeUnderWay == nil else { return nil }
      _ = forget(&state, reason)
      return enqueue(&state, .erase)
    }
    if write != nil { changed() }
    return write
  }

  private func forget(_ state: inout State, _ reason: SessionEnd) -> SessionState.Voided {
    if state.core.token != nil { state.events.append(.ended(reason)) }
    return state.core.end()
  }

  // MARK: The store

  /// The account's record, as it is after every change that was asked for.
  func load() async throws(SQOAuthError) -> AccountRecord? {
    _ = await state.withLock(\.write)?.value
    let id = accountID
    return try await context.environment.tokenStore.attempt("be read") { try await $0.load(id) }
  }

  /// What the store has, or why that is not known.
  private func look() async -> Result<AccountRecord?, SQOAuthError> {
    do throws(SQOAuthError) {
      return .success(try await load())
    } catch {
      return .failure(error)
    }
  }

  /// Stores a token again that the store had refused, if it is time.
  func saveAgain() async {
    let now = now
    guard let record = state.withLock({ $0.core.unsavedRecord(at: now) }) else { return }
    let found = await look()
    let write = state.withLock { state -> Write? in
      guard state.core.unsavedRecord(at: now) == record else { return nil }
      return save(record, unlessNewer: found, &state, at: now)
    }
    guard let saved = await write?.value else { return }
    state.withLock { $0.core.didSave(record, saved.error, at: now) }
  }

  /// Adds a change behind those that were asked for; called under the lock, so that the order is
  /// that of the decisions.
  func enqueue(_ state: inout State, _ change: Change) -> Write {
    let previous = state.write
    let (id, store) = (accountID, context.environment.tokenStore)
    // A task of its own: a caller that gives up must not tear a change off half-way.
    let write = Write {
      _ = await previous?.value
      do throws(SQOAuthError) {
        switch change {
        case .save(let record):
          try await store.attempt("save the token") { try await $0.save(record) }
        case .erase:
          try await store.attempt("erase the account") { try await $0.erase(id) }
        }
        return .success(())
      } catch {
        return .failure(error)
      }
    }
    state.write = write
    return write
  }
}

extension SessionState.Renewal {
  /// Sends everyone who waits for it to ask again.
  fileprivate func makeVoid() {
    work.cancel()
    work.outcome.resolve(.success(nil))
  }
}

extension SQToken {
  /// Whether this token came before another one; `false` where that is not known.
  fileprivate func isOlder(than other: SQToken) -> Bool {
    if accessToken == other.accessToken, refreshToken == other.refreshToken { return false }
    guard let mine = issueDate, let its = other.issueDate else { return true }
    return mine < its
  }
}

extension Result where Failure == SQOAuthError {
  fileprivate var error: SQOAuthError? {
    if case .failure(let error) = self { error } else { nil }
  }
}
