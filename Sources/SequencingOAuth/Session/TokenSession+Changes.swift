import Basics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// What replaces or ends the token from outside.
extension TokenSession {
  /// Takes over a token that was asked for in an epoch: into the store, then into memory.
  ///
  /// If the store fails, the token is kept in memory all the same, since the server may never give it
  /// again, and an event says so. If the session was ended meanwhile, the call throws.
  func takeOver(_ record: AccountRecord, of epoch: Int) async throws(SQOAuthError) {
    typealias Begun = (SessionState.Takeover, StoreWrites.Write, SessionState.Renewal?)
    let begun = state.withLock { state -> Begun? in
      guard state.core.dismissals == epoch else { return nil }
      let (takeover, void) = state.core.beginTakeover()
      return (takeover, enqueue(&state, .save(record)), void)
    }
    guard let (takeover, write, void) = begun else { throw .signInCancelled }
    void?.makeVoid()
    let saved = await made(write)
    let now = now
    let isOver = state.withLock { state in
      guard state.core.isCurrent(takeover) else { return state.core.dismissals != epoch }
      state.core.hold(record, at: now, jitter: .random(in: 0...1))
      if case .failure(let error) = saved {
        state.core.didSave(record, error, at: now)
        state.events.append(.refreshFailed(error))
      }
      state.core.end(takeover)
      return false
    }
    changed()
    takeover.end.resolve(())
    if isOver { throw .signInCancelled }
  }

  /// Takes over a token that the app kept, in memory at once.
  ///
  /// One that is older than what is held or stored is an outdated copy of it, whose refresh token
  /// must not be used again; then what is there stays.
  ///
  /// - Returns: What remains to be done about the store; waiters wait for it too.
  func resume(_ record: AccountRecord) -> @Sendable () async -> Void {
    let finish = adopt(record)
    return { _ = await finish() }
  }

  /// Takes over a token that the app kept, as ``resume(_:)`` does, and says why the store failed.
  func adopt(_ record: AccountRecord) -> @Sendable () async -> SQOAuthError? {
    let now = now
    let begun = state.withLock { state -> (SessionState.Takeover, SessionState.Renewal?)? in
      if let held = state.core.record, !held.token.isOlder(than: record.token) { return nil }
      let begun = state.core.beginTakeover()
      state.core.hold(record, at: now, jitter: .random(in: 0...1))
      return begun
    }
    guard let (takeover, void) = begun else { return { nil } }
    void?.makeVoid()
    return {
      let error = await self.leased { _ in await self.reconcile(record, takeover) }
      self.changed()
      takeover.end.resolve(())
      return error
    }
  }

  private func reconcile(
    _ record: AccountRecord, _ takeover: SessionState.Takeover
  ) async -> SQOAuthError? {
    let found = await look()
    let now = now
    let write = state.withLock { state -> StoreWrites.Write? in
      guard state.core.isCurrent(takeover) else { return nil }
      if let error = found.error { state.events.append(.refreshFailed(error)) }
      let write = save(record, unlessNewer: found, &state, at: now)
      if write == nil { state.core.end(takeover) }
      return write
    }
    guard let write else { return found.error }
    let saved = await made(write)
    state.withLock { state in
      guard state.core.isCurrent(takeover) else { return }
      state.core.didSave(record, saved.error, at: now)
      if let error = saved.error { state.events.append(.refreshFailed(error)) }
      state.core.end(takeover)
    }
    return saved.error
  }

  /// Saves the record that is held, unless the store has a newer one, which is taken over then.
  ///
  /// A store that could not be read is left alone: what it has may be newer.
  func save(
    _ record: AccountRecord, unlessNewer found: Result<AccountRecord?, SQOAuthError>,
    _ state: inout State, at now: Date
  ) -> StoreWrites.Write? {
    switch found {
    case .failure(let error):
      state.core.didSave(record, error, at: now)
    case .success(let stored?)
    where state.core.prefers(stored, to: record) && (try? context.check(stored)) != nil:
      state.core.storeHolds(stored.token)
      state.core.hold(stored, at: now, jitter: .random(in: 0...1))
      state.events.append(.refreshed(stored.token))
    case .success(let stored?) where stored.token.isSame(as: record.token):
      // The same sign-in, which keeps its name.
      state.core.storeHolds(stored.token)
      state.core.hold(stored, at: now, jitter: .random(in: 0...1))
    case .success:
      return enqueue(&state, .save(record))
    }
    return nil
  }

  /// Takes the store's record into memory if there is none; says whether there is one now.
  func restore() async throws(SQOAuthError) -> Bool {
    let ends = state.withLock(\.core.ends)
    guard let record = try await load() else { return token != nil }
    try context.check(record)
    context.resumeAttributes(of: record)
    let now = now
    let isHeld = state.withLock { state in
      if state.core.record == nil, state.core.ends == ends {
        state.core.storeHolds(record.token)
        state.core.hold(record, at: now, jitter: .random(in: 0...1))
      }
      return state.core.record != nil
    }
    changed()
    return isHeld
  }

  /// Ends the session: in memory at once, and in the store when the returned change is made.
  ///
  /// What begins after this call is not touched.
  @discardableResult
  func end(_ reason: SessionEnd) -> StoreWrites.Write {
    let (void, write) = state.withLock { forget(&$0, reason) }
    changed()
    void.renewal?.makeVoid()
    void.takeover?.end.resolve(())
    return write
  }

  /// Ends the session because of what a renewal found out, unless that was made void meanwhile.
  ///
  /// A sign-in that is under way goes on: it is what helps now.
  @discardableResult
  func end(
    _ reason: SessionEnd, foundBy renewal: SessionState.Renewal, erases: Bool = true
  ) -> Bool {
    state.withLock { state in
      guard state.core.isCurrent(renewal) else { return false }
      note(reason, &state)
      _ = state.core.end(isDismissal: false)
      if erases { _ = enqueue(&state, .erase) }
      return true
    }
  }

  /// Ends the session once the work with its token has succeeded; nobody renews it meanwhile.
  ///
  /// Without a token, in memory or in the store, nothing is done.
  func end(
    _ reason: SessionEnd, after work: (AccountRecord) async throws(SQOAuthError) -> Void
  ) async throws(SQOAuthError) {
    guard let (record, takeover) = try await reserve() else { return }
    defer {
      state.withLock { $0.core.end(takeover) }
      changed()
      takeover.end.resolve(())
    }
    try await leased { _ throws(SQOAuthError) in
      try await work(await newest(record))
      let erased = state.withLock { state in
        state.core.isCurrent(takeover) ? forget(&state, reason).write : nil
      }
      if let erased { try await made(erased).get() }
    }
  }

  /// The record that is held, or the one that another process has stored since.
  private func newest(_ held: AccountRecord) async -> AccountRecord {
    guard case .success(let stored?) = await look() else { return held }
    return state.withLock { $0.core.prefers(stored, to: held) } ? stored : held
  }

  /// Keeps everyone from changing the token until the takeover is ended.
  private func reserve() async throws(SQOAuthError) -> (AccountRecord, SessionState.Takeover)? {
    while true {
      try await settled()
      if token == nil, try await !restore() { return nil }
      let reserved = state.withLock { state -> (AccountRecord, SessionState.Takeover)? in
        guard let record = state.core.record, state.core.changeUnderWay == nil else {
          return nil
        }
        return (record, state.core.beginTakeover().0)
      }
      if let reserved { return reserved }
    }
  }

  private func forget(
    _ state: inout State, _ reason: SessionEnd
  ) -> (void: SessionState.Voided, write: StoreWrites.Write) {
    note(reason, &state)
    return (state.core.end(isDismissal: true), enqueue(&state, .erase))
  }

  private func note(_ reason: SessionEnd, _ state: inout State) {
    if state.core.token != nil { state.events.append(.ended(reason)) }
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
  /// Whether a resource server and the token endpoint cannot tell them apart.
  func isSame(as other: SQToken) -> Bool {
    accessToken == other.accessToken && refreshToken == other.refreshToken
  }

  /// Whether this token came after another one; `false` where that is not known.
  func isYounger(than other: SQToken) -> Bool {
    guard !isSame(as: other), let mine = issueDate, let its = other.issueDate else { return false }
    return mine > its
  }

  /// Whether this token came before another one; `true` where that is not known.
  fileprivate func isOlder(than other: SQToken) -> Bool {
    if isSame(as: other) { return false }
    guard let mine = issueDate, let its = other.issueDate else { return true }
    return mine < its
  }
}
