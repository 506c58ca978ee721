import SQBasics

// Makes the requested changes in the store, one after the other.
extension StoredAccount {
  /// Waits until a change is finished, even if the caller is cancelled, and returns its result.
  func made(_ write: PendingWrite) async -> Result<Void, SQOAuthError> {
    makeChanges(here: true)
    return await write.wait()
  }

  /// Waits until a change is finished, and returns its result; the change always continues.
  ///
  /// - Throws: ``SQOAuthError`` if the caller is cancelled, or if `end` has passed.
  func made(
    _ write: PendingWrite, until end: ContinuousClock.Instant?
  ) async throws(SQOAuthError) -> Result<Void, SQOAuthError> {
    makeChanges(here: true)
    let result = if let end { await write.wait(until: end) } else { await write.value() }
    guard let result else { throw Task.isCancelled ? .waitCancelled : .storeStillBusy }
    return result
  }

  /// Waits until all requested changes are finished.
  func allMade() async {
    if let lastWrite { _ = await made(lastWrite) }
  }

  /// Makes the requested changes; must be called after each request, outside all locks.
  ///
  /// If `here` is `true`, the changes start on the caller's thread and use it until the store first
  /// waits; this suits callers that wait anyway. If `false`, they start on another thread: an app
  /// that signs a user out may be on its main thread, or may hold a lock that its store needs.
  func makeChanges(here: Bool) {
    guard state.withLock({ $0.writes.beginRunning() }) else { return }
    // A separate task, so that a caller that stops waiting cannot interrupt a change.
    let run: @Sendable () async -> Void = {
      while let job = self.state.withLock({ $0.writes.next() }) {
        job.end.resolve(await self.result(of: job))
      }
    }
    if here { Task.startingHere(run) } else { Task { await run() } }
  }

  private func result(of job: StoreWrites.Job) async -> Result<Void, SQOAuthError> {
    if isComparing, isReplacement(job.change) { return await made(job) }
    // The change is made even without the lease: if another process hangs, a token must not be
    // lost, and a user who signs out must not stay signed in.
    return await leased { _ in await made(job) }
  }

  /// Returns whether a change is a new sign-in or the end of a session.
  ///
  /// A `ComparingTokenStore` makes such a change without the lease. A new sign-in and a sign-out
  /// take effect whatever other processes do. After a refusal, the store itself compares the
  /// tokens.
  private func isReplacement(_ change: StoreWrites.Change) -> Bool {
    switch change {
    case .save(let record):
      state.withLock { $0.seen.isNewSession(of: record) }
    case .erase, .eraseTokens: true
    // The lease excludes a refresh between the comparison of the record and the erasure.
    case .eraseAgain: false
    }
  }

  private func made(_ job: StoreWrites.Job) async -> Result<Void, SQOAuthError> {
    do throws(SQOAuthError) {
      try await make(job.change)
      return .success(())
    } catch {
      if let target = await target(afterFailureOf: job.change) {
        let failure = StoreWrites.FailedErase(error: error, target: target)
        state.withLock { $0.writes.didFailToErase(job, failure) }
      }
      return .failure(error)
    }
  }

  private func make(_ change: StoreWrites.Change) async throws(SQOAuthError) {
    switch change {
    case .save(let record):
      try await observing(.save) { () throws(SQOAuthError) in
        try await store.attempt("save the token") { try await $0.save(record) }
      }
      saw(record)
    case .erase:
      try await erase { [id] in try await $0.erase(id) }
    case .eraseTokens(let tokens):
      try await erase { [id] store in
        if let store = store as? any ComparingTokenStore {
          try await store.erase(id, ifTokenIsIn: tokens)
        } else {
          try await store.erase(id)
        }
      }
    case .eraseAgain(let target):
      if let erase = try await erasure(of: target) { try await make(erase) }
    }
  }

  private func erase(
    _ work: @Sendable (any TokenStore) async throws -> Void
  ) async throws(SQOAuthError) {
    try await observing(.erase) { () throws(SQOAuthError) in
      try await store.attempt("erase the account", work)
    }
    sawNothing()
  }

  /// Returns the change that makes a failed erasure; `nil` if its record is not in the store.
  private func erasure(
    of target: ErasureTarget
  ) async throws(SQOAuthError) -> StoreWrites.Change? {
    do throws(SQOAuthError) {
      guard let found = try await read(), target.includes(found) else { return nil }
      return .eraseTokens([found.token])
    } catch {
      // No process can use a damaged record. Any other record that cannot be read may be of a user
      // who has signed in since.
      guard error.code == .storeDamaged else { throw error }
      return .erase
    }
  }

  /// Returns what the repetition of a failed change may erase; `nil` if the change is a save.
  private func target(afterFailureOf change: StoreWrites.Change) async -> ErasureTarget? {
    switch change {
    case .save: return nil
    case .eraseTokens(let tokens): return .tokens(tokens)
    case .eraseAgain(let target): return target
    case .erase: break
    }
    let sessions = state.withLock(\.seen.sessions)
    guard sessions.isEmpty else { return .signIns(sessions) }
    // If the session does not know its sign-in, the erasure was to end the one in the store.
    do throws(SQOAuthError) {
      return .signIns([try await read()?.session].compactMap(\.self))
    } catch {
      return .any
    }
  }
}
