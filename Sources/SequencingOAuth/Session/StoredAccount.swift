import SQBasics

/// A session's account in one token store: it reads the record and makes changes in order.
///
/// If the app changes the environment's store, the session gets another object for the new store.
/// So what was seen, locked or requested in one store never affects another store.
///
/// Calls that do not wait may be made under the session's lock, so that the store's changes have
/// the order of the session's decisions. This type never calls the session.
package final class StoredAccount: Sendable {
  typealias PendingWrite = StoreWrites.PendingWrite

  struct State {
    var writes = StoreWrites()
    var seen = SeenRecord()
  }

  let id: String
  /// The store, and the identity of the app's choice of it.
  let choice: Boxed<any TokenStore>
  /// The object for the previous store, if it was still in use; ``flush()`` waits for it too.
  private let predecessor: StoredAccount?
  private let context: ClientContext
  private let lease: SessionLease
  let state = Locked(State())

  init(
    _ context: ClientContext, id: String, in choice: Boxed<any TokenStore>,
    after old: StoredAccount? = nil
  ) {
    self.context = context
    self.id = id
    self.choice = choice
    predecessor = old.flatMap { $0.isInUse ? $0 : nil }
    lease = SessionLease(accountID: id)
  }

  var store: any TokenStore { choice.value }
  /// Whether the store compares tokens before it erases an account.
  var isComparing: Bool { store is any ComparingTokenStore }

  /// Runs a call of the store, and reports the call to the observer.
  func observing<Value>(
    _ call: ClientEvent.StoreCall, _ work: () async throws(SQOAuthError) -> Value
  ) async throws(SQOAuthError) -> Value {
    try await context.environment.observing(.store(call), accountID: id, work)
  }
}

// MARK: - Reading

extension StoredAccount {
  /// Makes all requested changes, then reads the account's record.
  ///
  /// The wait for the changes ends if the caller is cancelled, or at `end`; the changes continue.
  func load(
    until end: ContinuousClock.Instant? = nil
  ) async throws(SQOAuthError) -> AccountRecord? {
    // Another process may delay the erasure of an ended session; that session's record is obsolete.
    let (isErasing, unfinished) = state.withLock { state in
      (state.writes.isErasing, state.writes.unfinishedErase)
    }
    if isErasing { return nil }
    if let lastWrite { _ = try await made(lastWrite, until: end) }
    // If the store failed to erase an ended session, its record must not be used again. If this
    // caller has just waited for that erasure, it is not repeated: it may have asked the user.
    let write = lastWrite === unfinished ? unfinished : eraseAgain() ?? lastWrite
    if let write, let error = try await made(write, until: end).error, failedErase != nil {
      throw error
    }
    return try await read()
  }

  /// Reads the account's record as it is in the store now.
  func read() async throws(SQOAuthError) -> AccountRecord? {
    try await observing(.load) { () throws(SQOAuthError) in
      try await store.attempt("be read") { [id] in try await $0.load(id) }
    }
  }

  /// Reads the account's record, and returns an error instead of throwing it.
  ///
  /// Otherwise it does the same as ``load(until:)``.
  func look(
    until end: ContinuousClock.Instant? = nil
  ) async -> Result<AccountRecord?, SQOAuthError> {
    await .of { () throws(SQOAuthError) in try await load(until: end) }
  }

  /// Reads the account's record and checks that the store could save a new token.
  ///
  /// It is called before a new token is requested.
  ///
  /// - Throws: ``SQOAuthError`` with the reason why the store could not save the token.
  func check() async throws(SQOAuthError) -> AccountRecord? {
    let record = try await load()
    if context.environment.refreshesWithoutStore { return record }
    if record != nil {
      // If another process has the lease, the check succeeds nevertheless.
      try await store.attempt("lock the account") { [id] in try await $0.shared.lease(id) }?
        .release()
    }
    try await observing(.reserve) { () throws(SQOAuthError) in
      try await store.attempt("reserve space for the token") { [id] in
        try await $0.reservation(id, replacing: nil)
      }
    }.release()
    return record
  }

  /// Reserves space in the store for the record that will replace `record`.
  func reservation(after record: AccountRecord) async throws(SQOAuthError) -> AccountReservation {
    try await observing(.reserve) { () throws(SQOAuthError) in
      try await store.attempt("reserve space for the next token") { [id] in
        try await $0.reservation(id, replacing: record)
      }
    }
  }

  /// Runs `work` under the lease, so that no other session or process changes the account.
  ///
  /// `work` gets the time for which another session had the lease. If the session cannot get the
  /// account's lease, `work` runs nevertheless and gets the reason.
  ///
  /// If `waits` is `false` and another process has the lease, `work` gets the reason immediately
  /// while ``hurrying(_:)`` runs.
  ///
  /// The wait for another process ends after `limit`.
  func leased<Value, Failure>(
    waits: Bool = true, within limit: Duration = SessionLease.longestWait,
    _ work: (SessionLease.Outcome) async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let outcome = await lease.acquire(
      from: store, context.environment, waits: waits, within: limit)
    defer { if case .success = outcome { lease.release() } }
    return try await work(outcome)
  }

  /// Runs `work`; until it ends, no refresh waits for another process that uses the account.
  package func hurrying<Value>(_ work: () async -> Value) async -> Value {
    await lease.hurrying(work)
  }

  private var isInUse: Bool { lease.isInUse || state.withLock(\.writes.isUnfinished) }

  /// Observes the account; returns `nil` if the store cannot report changes.
  func observe(_ onChange: @escaping @Sendable () -> Void) -> AccountObservation? {
    store.shared.observe(id, onChange)
  }

  /// Waits until other processes can use the account and have been notified of its changes.
  func flush() async {
    if let predecessor {
      await predecessor.allMade()
      await predecessor.flush()
    }
    await lease.flush()
    await store.shared.flush()
  }
}

// MARK: - Records seen in the store

extension StoredAccount {
  /// Whether this session has written the record to the store or read it there.
  ///
  /// If so, and if the store has no record now, another process signed the user out.
  var wasSeen: Bool { state.withLock { $0.seen.token != nil } }

  /// Returns whether a record of this sign-in was in the store.
  ///
  /// If it was, and the store has no record now, the user was signed out elsewhere. This is so even
  /// if the record in memory could not be saved.
  func wasSeen(sessionOf record: AccountRecord) -> Bool {
    state.withLock { $0.seen.isOfSession(of: record) }
  }

  /// Remembers that the store now has this record.
  func saw(_ record: AccountRecord) {
    state.withLock { $0.seen.saw(record) }
  }

  /// Remembers that the store has no record of the account.
  func sawNothing() {
    state.withLock { $0.seen.sawNothing() }
  }

  /// Returns whether a record in the store replaces the record that the session has in memory.
  func prefers(_ stored: AccountRecord, to held: AccountRecord) -> Bool {
    state.withLock(\.seen).prefers(stored, to: held)
  }
}

// MARK: - Changing

extension StoredAccount {
  /// The last requested change, whether finished or not; `nil` if there was none.
  var lastWrite: PendingWrite? { state.withLock(\.writes.last) }

  /// The reason why the store still has an ended session's account; `nil` if there is none.
  var failedErase: SQOAuthError? { state.withLock(\.writes.failedErase?.error) }

  /// Requests a change; ``made(_:)`` or ``makeChanges(here:)`` makes it.
  func add(_ change: StoreWrites.Change) -> PendingWrite {
    if case .save(let record) = change { context.willSave(record) }
    return state.withLock { state in
      if case .save(let record) = change {
        state.seen.willSave(record)
      } else {
        state.seen.sawNothing()
      }
      return state.writes.add(change, inComparingStore: isComparing)
    }
  }

  /// Requests the erasure of the account because the server refused its token.
  ///
  /// A store that can compare tokens erases the account only if it has the refused token, or the
  /// token that this session last saw there. Otherwise, another host has saved a newer token or
  /// signed in again.
  func addEraseOfRefused(_ token: SQToken?) -> PendingWrite {
    state.withLock { state in
      let tokens = [token, state.seen.token].compactMap { $0 }
      state.seen.sawNothing()
      return state.writes.add(.eraseTokens(tokens), inComparingStore: isComparing)
    }
  }

  /// Requests the erasure of a sign-in's record although the store could not be read.
  ///
  /// If another process has signed a user in, that sign-in stays in the store.
  func addErase(ofUnread record: AccountRecord) -> PendingWrite {
    state.withLock { state in
      let sessions = state.seen.sessions + [record.session].compactMap(\.self)
      state.seen.sawNothing()
      return state.writes.add(.eraseAgain(.signIns(sessions)), inComparingStore: isComparing)
    }
  }

  /// Requests a failed erasure again; returns `nil` if no erasure has failed.
  ///
  /// If another process has signed a user in since the failure, that sign-in stays in the store.
  func eraseAgain() -> PendingWrite? {
    state.withLock { state in
      guard let failed = state.writes.failedErase else { return nil }
      return state.writes.add(.eraseAgain(failed.target), inComparingStore: isComparing)
    }
  }
}
