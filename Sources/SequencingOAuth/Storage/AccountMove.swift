import SQBasics
import SQCrypto

/// A move of all accounts from one store to another.
struct AccountMove: Sendable {
  private let old: any TokenStore
  private let new: any TokenStore
  /// How long to wait until another process releases an account in the new store.
  private let leaseLimit: Duration

  init(from old: any TokenStore, to new: any TokenStore, leaseLimit: Duration) {
    self.old = old
    self.new = new
    self.leaseLimit = leaseLimit
  }

  /// Moves the accounts, and returns their ids.
  func run() async throws(SQOAuthError) -> [String] {
    guard !isOneObject else { throw Self.onePlace }
    let ids = try await old.attempt("be listed") { try await $0.list() }
    var moved: [String] = []
    do throws(SQOAuthError) {
      for id in ids where try await move(id) { moved.append(id) }
    } catch {
      await flush()
      throw error
    }
    await flush()
    return moved
  }

  private func flush() async {
    await old.shared.flush()
    await new.shared.flush()
  }

  /// Moves an account; returns `false` if it is no longer in the old store.
  private func move(_ id: String) async throws(SQOAuthError) -> Bool {
    let newLease = try await leaseInNewStore(id)
    defer { newLease.release() }
    let oldLease = try await leaseInOldStore(id)
    defer { oldLease.release() }
    guard let record = try await record(id, in: old) else { return false }
    try await erase(try await copy(record))
    return true
  }

  /// Saves a record in the new store unless it has the record; returns the newer of both records.
  private func copy(_ record: AccountRecord) async throws(SQOAuthError) -> AccountRecord {
    if let theirs = try await self.record(record.id, in: new) {
      // An earlier call may have saved the record in the new store, and ended before it erased the
      // record in the old one. Since then, an app may have refreshed the token in either store.
      if theirs.token.isSame(as: record.token) || record.isAncestor(of: theirs) { return theirs }
      guard theirs.isAncestor(of: record) else {
        throw SQOAuthError(
          .accountChanged,
          "the other store has another sign-in of the account \"\(record.id.printable)\"; erase "
            + "the account in one of the two stores, and move the accounts again")
      }
    }
    try await new.attempt("save the token") { try await $0.save(record) }
    return record
  }

  /// Erases an account in the old store; saves its record there again if the new store lacks it.
  ///
  /// Two stores can be one place without sharing leases, for example two of an app's own stores
  /// around one dictionary. A cancellation must not come between the erasure and the second save.
  private func erase(_ record: AccountRecord) async throws(SQOAuthError) {
    try await uncancelled { () throws(SQOAuthError) in
      let erasure = await outcome { () throws(SQOAuthError) in
        try await old.attempt("erase the account") { try await $0.erase(record.id) }
      }
      let copy = await outcome { () throws(SQOAuthError) in
        try await self.record(record.id, in: new)
      }
      if case .success(.some) = copy { return try erasure.get() }
      try await old.attempt("save the token") { try await $0.save(record) }
      try erasure.get()
      _ = try copy.get()
      throw Self.onePlace
    }
  }

  private func outcome<Value>(
    _ body: () async throws(SQOAuthError) -> Value
  ) async -> Result<Value, SQOAuthError> {
    do throws(SQOAuthError) { return .success(try await body()) } catch { return .failure(error) }
  }

  private func record(
    _ id: String, in store: any TokenStore
  ) async throws(SQOAuthError) -> AccountRecord? {
    try await store.attempt("be read") { try await $0.load(id) }
  }
}

// The leases in both stores, and the stores that are one place.
extension AccountMove {
  private func lease(
    _ id: String, in store: any TokenStore
  ) async throws(SQOAuthError) -> AccountLease? {
    try await store.attempt("lock the account") { try await $0.shared.lease(id) }
  }

  /// Acquires the lease of an account in the new store, and waits while another process has it.
  private func leaseInNewStore(_ id: String) async throws(SQOAuthError) -> AccountLease {
    let end = ContinuousClock.now + leaseLimit
    var pause = Duration.milliseconds(1)
    while true {
      if let lease = try await lease(id, in: new) { return lease }
      guard ContinuousClock.now < end else { break }
      do { try await Task.sleep(for: pause) } catch { throw .waitCancelled }
      pause = min(pause * 2, .milliseconds(32))
    }
    throw SQOAuthError(
      .accountInUse,
      "\(await holder(id, in: new)) uses the account \"\(id.printable)\" in the other store; wait "
        + "until it has finished, or end that process, and move the accounts again")
  }

  /// Acquires the lease of an account in the old store; the caller holds that in the new store.
  ///
  /// It does not wait: a process that uses the old store must end before its accounts are moved.
  private func leaseInOldStore(_ id: String) async throws(SQOAuthError) -> AccountLease {
    if let lease = try await lease(id, in: old) { return lease }
    // The caller's own lease may be the reason.
    guard try await !sharesLeases() else { throw Self.onePlace }
    throw SQOAuthError(
      .accountInUse,
      "\(await holder(id, in: old)) uses the account \"\(id.printable)\"; end that process, and "
        + "move the accounts again")
  }

  private func holder(_ id: String, in store: any TokenStore) async -> String {
    await store.shared.leaseHolder(id) ?? "another process"
  }

  /// Returns whether both stores have the same leases, because they are the same place.
  private func sharesLeases() async throws(SQOAuthError) -> Bool {
    // No other process uses an account with this name, so none can have its lease.
    let id = RandomString.makeName()
    guard let lease = try await lease(id, in: new) else { return false }
    defer { lease.release() }
    guard let other = try await self.lease(id, in: old) else { return true }
    other.release()
    return false
  }

  /// Whether both stores are one object, which has no leases to show it if it is not shared.
  private var isOneObject: Bool {
    guard type(of: old) is AnyClass, type(of: new) is AnyClass else { return false }
    return old as AnyObject === new as AnyObject
  }

  private static let onePlace = SQOAuthError(
    .invalidConfiguration,
    "both stores are the same place, so there is nothing to move, and the accounts stay where they "
      + "are; name another place for one of the stores")
}
