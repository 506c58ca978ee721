import Basics

/// A session's account in the token store: what the session reads there and changes, in order.
///
/// The calls that do not wait may be made under the session's lock, so that changes of the store have
/// the order of the session's decisions. This type never calls the session.
final class StoredAccount: Sendable {
  typealias Write = StoreWrites.Write

  private struct State {
    var writes = StoreWrites()
    /// What this session last wrote to the store or read from it.
    var lastSeen: SQToken?
  }

  let id: String
  private let context: ClientContext
  private let lease: SessionLease
  private let state = Locked(State())

  init(_ context: ClientContext, id: String) {
    self.context = context
    self.id = id
    lease = SessionLease(accountID: id)
  }

  private var store: any TokenStore { context.environment.tokenStore }
}

// MARK: - Reading

extension StoredAccount {
  /// The account's record after every change that was asked for.
  func load() async throws(SQOAuthError) -> AccountRecord? {
    // Another process may delay the end of a session, and its record does not count any more.
    if state.withLock(\.writes.isErasing) { return nil }
    await allMade()
    // What was ended must not come back because the store could not erase it.
    if let write = eraseAgain() ?? lastWrite, let error = await made(write).error,
      owedErase != nil
    {
      throw error
    }
    return try await store.attempt("be read") { [id] in try await $0.load(id) }
  }

  /// The account's record, or why the store could not be read.
  func look() async -> Result<AccountRecord?, SQOAuthError> {
    do throws(SQOAuthError) {
      return .success(try await load())
    } catch {
      return .failure(error)
    }
  }

  /// The account's record, read before a token is asked for.
  ///
  /// - Throws: ``SQOAuthError``: why the store could not keep that token.
  func check() async throws(SQOAuthError) -> AccountRecord? {
    let record = try await load()
    if context.environment.refreshesUnkeptTokens { return record }
    if record != nil {
      // Another process may have the lease, which is no failure.
      try await store.attempt("lock the account") { [id] in try await $0.lease(id) }?.release()
    }
    try await store.attempt("make room for the token") { [id] in
      try await $0.reserve(id, replacing: nil)
    }.release()
    return record
  }

  /// Room in the store for the record that follows another one.
  func room(after record: AccountRecord) async throws(SQOAuthError) -> AccountReservation {
    try await store.attempt("make room for the next token") { [id] in
      try await $0.reserve(id, replacing: record)
    }
  }

  /// Does work while no other session and no other process changes the account.
  ///
  /// When the account's lease cannot be had the work is done all the same, and gets the reason.
  func leased<Value, Failure>(
    _ work: (SQOAuthError?) async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    try await leased(from: store, work)
  }

  private func leased<Value, Failure>(
    from store: any TokenStore, _ work: (SQOAuthError?) async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let leased = await lease.acquire(from: store, context.environment.clock)
    defer { if case .success = leased { lease.release() } }
    return try await work(leased.error)
  }
}

// MARK: - Whose record it is

extension StoredAccount {
  /// Whether this session has written or read the record: when it is missing then, another process
  /// signed the user out.
  var wasSeen: Bool { state.withLock { $0.lastSeen != nil } }

  /// Takes note of the token that is in the store.
  func saw(_ token: SQToken) {
    state.withLock { $0.lastSeen = token }
  }

  /// Takes note that another process erased the account.
  func sawNothing() {
    state.withLock { $0.lastSeen = nil }
  }

  /// Whether a record of the store replaces one that the session holds.
  ///
  /// It does when another process wrote it: it is not the record that this session last saw there.
  /// If the session has seen none, the younger record counts. Dates alone would mislead once the
  /// clock was moved.
  func prefers(_ stored: AccountRecord, to held: AccountRecord) -> Bool {
    if stored.token.isSame(as: held.token) { return false }
    guard let lastSeen = state.withLock(\.lastSeen) else {
      return stored.token.isYounger(than: held.token)
    }
    return !stored.token.isSame(as: lastSeen)
  }
}

// MARK: - Changing

extension StoredAccount {
  /// The last change that was asked for, made or not.
  var lastWrite: Write? { state.withLock(\.writes.last) }

  /// Why the store still has an account that the session ended; `nil` when it has not.
  var owedErase: SQOAuthError? { state.withLock(\.writes.owedErase) }

  /// Adds a change; it is made by ``made(_:)`` or ``makeChanges(here:)``.
  func add(_ change: StoreWrites.Change) -> Write {
    if case .save(let record) = change { context.willSave(record) }
    let store = store
    return state.withLock { state in
      if case .erase = change { state.lastSeen = nil }
      return state.writes.add(change, to: store)
    }
  }

  /// Adds the erasure once more that the store refused, if it did.
  func eraseAgain() -> Write? {
    let store = store
    return state.withLock { $0.writes.owedErase == nil ? nil : $0.writes.add(.erase, to: store) }
  }

  /// Returns when a change is made, whether or not the caller is cancelled.
  func made(_ write: Write) async -> Result<Void, SQOAuthError> {
    makeChanges(here: true)
    return await write.wait()
  }

  /// Returns when every change that was asked for is made.
  func allMade() async {
    if let lastWrite { _ = await made(lastWrite) }
  }

  /// Makes the changes that were asked for; called after each addition, outside every lock.
  ///
  /// `here`, for a caller that waits anyway, the work keeps the caller's thread until the store first
  /// waits. An app that signs a user out may be on its main thread, or hold a lock that its store
  /// needs.
  func makeChanges(here: Bool) {
    guard state.withLock({ $0.writes.beginRunning() }) else { return }
    // A task of its own: a caller that gives up must not stop a change half-way.
    let run: @Sendable () async -> Void = {
      while let job = self.state.withLock({ $0.writes.next() }) {
        job.end.resolve(await self.result(of: job))
      }
    }
    if here { Task.startingHere(run) } else { Task { await run() } }
  }

  private func result(of job: StoreWrites.Job) async -> Result<Void, SQOAuthError> {
    // Also without the lease: when another process hangs, a token must not be lost, and a user who
    // signs out must not stay signed in.
    await leased(from: job.store) { _ in
      do throws(SQOAuthError) {
        try await make(job)
        return .success(())
      } catch {
        state.withLock { $0.writes.didFail(job, error) }
        return .failure(error)
      }
    }
  }

  private func make(_ job: StoreWrites.Job) async throws(SQOAuthError) {
    switch job.change {
    case .save(let record):
      try await job.store.attempt("save the token") { try await $0.save(record) }
      saw(record.token)
    case .erase:
      try await job.store.attempt("erase the account") { [id] in try await $0.erase(id) }
      sawNothing()
    }
  }
}
