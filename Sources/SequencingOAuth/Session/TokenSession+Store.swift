import Basics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// The store, whose changes are made in the order in which they were asked for.
extension TokenSession {
  /// The account's record, as it is after every change that was asked for.
  func load() async throws(SQOAuthError) -> AccountRecord? {
    // Another process may hold the end up, which is nothing to wait for.
    if state.withLock(\.writes.isErasing) { return nil }
    await writesMade()
    // What was ended must not come back because the store did not take note of it.
    let last = state.withLock { state in
      state.writes.owesErase ? enqueue(&state, .erase) : state.writes.last
    }
    if let last, let error = await made(last).error, state.withLock(\.writes.owesErase) {
      throw error
    }
    let id = accountID
    return try await context.environment.tokenStore.attempt("be read") { try await $0.load(id) }
  }

  /// The account's record; the store was asked whether a new one could be saved, before anything is
  /// spent for it.
  func checkStore() async throws(SQOAuthError) -> AccountRecord? {
    let record = try await load()
    let (id, environment) = (accountID, context.environment)
    if environment.refreshesUnkeptTokens { return record }
    let store = environment.tokenStore
    // Another process may have the lease, which is no failure.
    if record != nil {
      try await store.attempt("lock the account") { try await $0.lease(id) }?.release()
    }
    try await store.attempt("make room for the token") {
      try await $0.reserve(id, replacing: nil)
    }.release()
    return record
  }

  /// Does work while nobody else changes the account; it gets why that cannot be kept up, if so.
  func leased<Value, Failure>(
    from store: (any TokenStore)? = nil,
    _ work: (SQOAuthError?) async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let environment = context.environment
    let leased = await lease.acquire(from: store ?? environment.tokenStore, environment.clock)
    defer { if case .success = leased { lease.release() } }
    return try await work(leased.error)
  }

  /// What the store has, or why that is not known.
  func look() async -> Result<AccountRecord?, SQOAuthError> {
    do throws(SQOAuthError) {
      return .success(try await load())
    } catch {
      return .failure(error)
    }
  }

  /// Stores a token again that the store had refused, if it is time.
  func saveAgain() async { await saveAgain(at: now) }

  /// Stores a token again that the store had refused: if a moment is given, only if the back-off is
  /// over by then.
  private func saveAgain(at date: Date?) async {
    guard let record = state.withLock({ $0.core.recordToSaveAgain(at: date) }) else { return }
    await leased { _ in await saveAgain(record, at: date) }
  }

  private func saveAgain(_ record: AccountRecord, at date: Date?) async {
    let found = await look()
    let now = now
    let write = state.withLock { state -> StoreWrites.Write? in
      guard state.core.recordToSaveAgain(at: date) == record else { return nil }
      return save(record, unlessNewer: found, &state, at: now)
    }
    guard let write else { return }
    let saved = await made(write)
    let then = self.now
    state.withLock { $0.core.didSave(record, saved.error, at: then) }
  }

  /// Returns when no change of the token is under way and the store has the newest one.
  ///
  /// - Throws: Why the store does not have it; it is in memory only then.
  func settle() async throws(SQOAuthError) {
    // In a task of its own: a program that is about to end may have cancelled the caller's.
    let settling = Task { () -> Result<Void, SQOAuthError> in
      _ = try? await settled()
      await writesMade()
      await saveAgain(at: nil)
      await eraseAgain()
      changed()
      return state.withLock { state in
        (state.core.unsaved?.backOff.error ?? state.writes.owed).map { .failure($0) }
          ?? .success(())
      }
    }
    try await settling.value.get()
  }

  /// Erases an account again that the store had refused to erase.
  private func eraseAgain() async {
    let write = state.withLock { $0.writes.owesErase ? enqueue(&$0, .erase) : nil }
    if let write { _ = await made(write) }
  }

  /// Adds a change of the store; called under the lock.
  func enqueue(_ state: inout State, _ change: StoreWrites.Change) -> StoreWrites.Write {
    if case .save(let record) = change { context.willSave(record) }
    return state.writes.add(change, to: context.environment.tokenStore)
  }

  /// Returns when a change of the store is made, whether or not the caller is cancelled.
  func made(_ write: StoreWrites.Write) async -> Result<Void, SQOAuthError> {
    runWrites(here: true)
    return await write.wait()
  }

  /// Returns when every change of the store that was asked for is made.
  func writesMade() async {
    if let last = state.withLock(\.writes.last) { _ = await made(last) }
  }

  /// Makes the changes that were asked for; called after each addition, outside the lock.
  ///
  /// What is to run `here`, for a caller that waits for it anyway, keeps a thread until the store
  /// first waits. An app that signs a user out may be on its main thread, or hold a lock that its
  /// store needs.
  func runWrites(here: Bool) {
    guard state.withLock({ $0.writes.beginRunning() }) else { return }
    // A task of its own: a caller that gives up must not tear a change off half-way.
    let run: @Sendable () async -> Void = {
      while let job = self.state.withLock({ $0.writes.next() }) {
        job.end.resolve(await self.result(of: job))
      }
    }
    if here { Task.startingHere(run) } else { Task { await run() } }
  }

  private func result(of job: StoreWrites.Job) async -> Result<Void, SQOAuthError> {
    // Without the lease if need be: a token must not be lost, and a user who signs out is not to
    // stay signed in, because another process hangs.
    await leased(from: job.store) { _ in await resultInLease(of: job) }
  }

  private func resultInLease(of job: StoreWrites.Job) async -> Result<Void, SQOAuthError> {
    do throws(SQOAuthError) {
      switch job.change {
      case .save(let record):
        try await job.store.attempt("save the token") { try await $0.save(record) }
        state.withLock { $0.core.storeHolds(record.token) }
      case .erase:
        let id = accountID
        try await job.store.attempt("erase the account") { try await $0.erase(id) }
        state.withLock { $0.core.storeHolds(nil) }
      }
      return .success(())
    } catch {
      if case .erase = job.change { state.withLock { $0.writes.didNotErase(job, error) } }
      return .failure(error)
    }
  }
}
