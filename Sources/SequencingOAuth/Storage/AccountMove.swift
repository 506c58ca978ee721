import SQBasics
import SQCrypto

/// A move of all accounts from one store to another.
struct AccountMove: Sendable {
  private let old: any TokenStore
  private let new: any TokenStore
  /// How long to wait until another process releases an account.
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
    switch try await moveUnderLeases(id) {
    case .absent: return false
    case .moved: return true
    case .lost(let record, let error):
      try await uncancelled { () throws(SQOAuthError) in try await saveAgain(record) }
      throw error
    }
  }

  private enum Outcome {
    /// The old store no longer has the account.
    case absent
    case moved
    /// The new store may lack the record, although it was to be erased in the old store.
    case lost(AccountRecord, SQOAuthError)
  }

  private func moveUnderLeases(_ id: String) async throws(SQOAuthError) -> Outcome {
    let newLease = try await leaseInNewStore(id)
    defer { newLease.release() }
    let oldLease = try await leaseInOldStore(id)
    defer { oldLease.release() }
    guard let record = try await record(id, in: old) else { return .absent }
    return try await erase(try await copy(record))
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

  /// Erases an account in the old store, and looks whether the new store still has the record.
  ///
  /// Two stores can be one place without sharing leases, for example two of an app's own stores
  /// around one dictionary. A cancellation must not come between the erasure and the look.
  private func erase(_ record: AccountRecord) async throws(SQOAuthError) -> Outcome {
    try await uncancelled { () throws(SQOAuthError) in
      let erasure = await Result.of { () throws(SQOAuthError) in
        try await old.attempt("erase the account") { try await $0.erase(record.id) }
      }
      let copy = await Result.of { () throws(SQOAuthError) in
        try await self.record(record.id, in: new)
      }
      guard case .success(.some) = copy else {
        return .lost(record, erasure.error ?? copy.error ?? Self.onePlace)
      }
      try erasure.get()
      return .moved
    }
  }

  /// Saves a record in the old store again, unless that store has a record of the account now.
  ///
  /// The leases of the erasure must have been released: a `ComparingTokenStore` refuses the record
  /// of an erased sign-in while the lease lasts.
  private func saveAgain(_ record: AccountRecord) async throws(SQOAuthError) {
    await flush()
    let lease = await Result.of { () throws(SQOAuthError) in
      try await leaseSoon(record.id, in: old)
    }
    defer { if case .success(let lease?) = lease { lease.release() } }
    let found = await Result.of { () throws(SQOAuthError) in
      try await self.record(record.id, in: old)
    }
    if case .success(.some) = found { return }
    try await old.attempt("save the token") { try await $0.save(record) }
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

  /// Acquires an account's lease, and waits while another process has it; `nil` after the limit.
  private func leaseSoon(
    _ id: String, in store: any TokenStore
  ) async throws(SQOAuthError) -> AccountLease? {
    let end = ContinuousClock.now + leaseLimit
    var pause = Duration.milliseconds(1)
    while true {
      if let lease = try await lease(id, in: store) { return lease }
      guard ContinuousClock.now < end else { return nil }
      do { try await Task.sleep(for: pause) } catch { throw .waitCancelled }
      pause = min(pause * 2, .milliseconds(32))
    }
  }

  private func leaseInNewStore(_ id: String) async throws(SQOAuthError) -> AccountLease {
    if let lease = try await leaseSoon(id, in: new) { return lease }
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
