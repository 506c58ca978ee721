import SQBasics
import SQFoundation
import SQLibC
public import SequencingOAuth

// The leases of accounts, and the tokens that are saved while a lease is held.
extension PostgreSQLTokenStore {
  /// The longest wait of ``lease(_:)``, and the time between its attempts if no notices arrive.
  private static let wait = (longest: Duration.seconds(2), step: Duration.milliseconds(500))

  /// Takes the exclusive right among all hosts to change an account.
  ///
  /// Returns `nil` at once if another caller in this process has that right. If a caller in another
  /// process has it, returns `nil` after 2 s, or when the task is cancelled.
  public func lease(_ id: String) async throws(SQOAuthError) -> AccountLease? {
    try Self.check(id)
    let end = ContinuousClock.now + Self.wait.longest
    guard let ticket = held.begin(id) else { return nil }
    return try await take(id, ticket, until: end)
  }

  private func take(
    _ id: String, _ ticket: Data, until end: ContinuousClock.Instant
  ) async throws(SQOAuthError) -> AccountLease? {
    do throws(SQOAuthError) {
      if try await isTaken(id, ticket) { return taken(id, ticket) }
      let bell = Locked(OneShot<Void>())
      let observation = observe(id) { bell.withLock { $0 }.resolve(()) }
      defer { observation?.end() }
      while ContinuousClock.now < end, !Task.isCancelled {
        let next = OneShot<Void>()
        bell.withLock { $0 = next }
        if try await isTaken(id, ticket) { return taken(id, ticket) }
        await wait(for: next, until: end)
      }
    } catch {
      // The database may have granted the lease before the answer was lost.
      held.end(id, ticket, isGone: false)
      throw error
    }
    held.end(id, ticket)
    return nil
  }

  private func isTaken(_ id: String, _ ticket: Data) async throws(SQOAuthError) -> Bool {
    try await database.use { table throws(SQOAuthError) in
      if try await table.takeLease(id, ticket: ticket) { return true }
      _ = try await table.holder(id)
      try await table.doubtLease(id)
      return false
    }
  }

  private func taken(_ id: String, _ ticket: Data) -> AccountLease {
    // A lease that protects an unsaved token is still being extended.
    if held.lease(id)?.isUnsaved != true { keep(id, ticket) }
    return AccountLease { [self] in release(id, ticket) }
  }

  /// Waits until the lease may be free.
  private func wait(for bell: OneShot<Void>, until end: ContinuousClock.Instant) async {
    // Random, so that hosts that wait for the same account do not all query at the same time.
    let step = Self.wait.step * Double.random(in: 0.5...1)
    let next = (notices?.areHeard ?? false) ? end : min(end, .now + step)
    _ = await bell.wait(until: next)
  }

  private func release(_ id: String, _ ticket: Data) {
    // Until the new token is saved, no other host may send the old refresh token.
    guard held.release(id, ticket) else { return }
    work.start { [self] in
      do throws(SQOAuthError) {
        try await database.use(.long) { table throws(SQOAuthError) in
          try await table.endLease(id, ticket: ticket)
        }
        held.end(id, ticket)
        notices?.announce(id)
      } catch {
        // If the lease is still in the database, it expires by itself.
        held.end(id, ticket, isGone: false)
      }
    }
  }

  /// Waits until leases are returned and other hosts are notified of changes.
  ///
  /// Call it before the program ends; otherwise other hosts would wait for leases of an ended
  /// program. It returns after at most 5 s, even if the database does not answer.
  public func flush() async {
    let deadline = ContinuousClock.now + Self.flushTime
    await work.flush(until: deadline)
    guard let notices else { return }
    await notices.sent(until: deadline)
    // The listening connection usually sends the notices, but it may not be open yet.
    while let notice = notices.takeNotice(now: true) {
      let isSent = OneShot<Bool>()
      work.start { [self] in
        do throws(SQOAuthError) {
          try await database.use { table throws(SQOAuthError) in try await table.announce(notice) }
          isSent.resolve(true)
        } catch {
          notices.putBack(notice)
          isSent.resolve(false)
        }
      }
      // After a failure, give up: `use` has already retried the calls for which that can help.
      guard await isSent.wait(until: deadline) == true else { break }
    }
    await notices.sent(until: deadline)
  }

  private static let flushTime = Duration.seconds(5)

  /// This process's name in the errors of other processes that wait for its lease.
  static let holder: String = {
    var name = [CChar](repeating: 0, count: 256)
    gethostname(&name, name.count - 1)
    let host = String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    return "process \(getpid()) on host \(host.printable)"
  }()

  /// Calls a closure when another host may have changed an account, until the observation ends.
  ///
  /// Usually the closure is called right after the change. If a notice was lost, it is called
  /// within 30 s. Through a connection pooler, it is called within 5 s.
  public func observe(
    _ id: String, _ onChange: @escaping @Sendable () -> Void
  ) -> AccountObservation? {
    guard let notices else { return nil }
    let observer = notices.observe(id, onChange)
    return AccountObservation { notices.end(observer, of: id) }
  }

  /// Returns the name of the process and host that hold an account's lease, for error messages.
  public func leaseHolder(_ id: String) async -> String? {
    let holder = try? await database.use { table throws(SQOAuthError) in try await table.holder(id)
    }
    return holder ?? nil
  }

  /// Notes in the account's lease that a refresh token is about to be sent.
  ///
  /// The caller does this as the last step before it sends the token.
  ///
  /// If it throws, the caller must not send the refresh token. If `record` is `nil`, the call only
  /// checks that the store can save a record.
  ///
  /// - Throws: `SQOAuthError.Code.accountChanged` if another host has taken over the lease or
  ///   changed the account, or if another session in this process has a newer token that is not
  ///   saved yet; `SQOAuthError.Code.wrongPassphrase` if this process lacks the newest key.
  public func reserve(
    _ id: String, replacing record: AccountRecord?
  ) async throws(SQOAuthError) -> AccountReservation {
    guard let record else {
      try Self.check(id)
      try await database.use { table throws(SQOAuthError) in try await table.checkWriting() }
      return AccountReservation()
    }
    let lease = held.lease(id)
    if lease?.isUnsaved ?? false {
      throw SQOAuthError(
        .accountChanged,
        "the account \"\(id.printable)\" has a newer token that could not be saved yet")
    }
    guard let lease, let row = lease.known, row.record == record,
      try await isMarked(id, lease.ticket, row.version)
    else { throw Self.wasChanged(id) }
    held.reserved(id, lease.ticket, row)
    return AccountReservation { [self] in
      held.received(id, lease.ticket)
      // If this fails, the save that follows tries again for a longer time.
      try? await replace(row.version, $0, lease.ticket, .short)
    }
  }

  /// Marks a lease before a refresh token is sent; if the lease is gone, first takes it again.
  ///
  /// A database server that crashes can lose a lease that was just taken. Returns `false` if
  /// another host has the lease now or if the record has a different version.
  private func isMarked(
    _ id: String, _ ticket: Data, _ version: Int64
  ) async throws(SQOAuthError) -> Bool {
    try await database.use { table throws(SQOAuthError) in
      if try await table.markSent(id, ticket: ticket, version: version) { return true }
      guard try await table.takeLease(id, ticket: ticket) else {
        return false
      }
      return try await table.markSent(id, ticket: ticket, version: version)
    }
  }

  /// Extends a lease repeatedly until it is released and no new token is unsaved, or until the
  /// store is released.
  ///
  /// A sign-in holds the lease while the user is in the browser. The extension also protects a lease
  /// that seems expired because the server's clock jumped.
  private func keep(_ id: String, _ ticket: Data) {
    // The interval lets this host extend the lease several times before it expires, or while
    // another host doubts it.
    let shortest = min(LeaseStatements.unsentSeconds, LeaseStatements.doubtSeconds)
    Task { [weak self] in
      while true {
        try? await Task.sleep(for: .seconds(shortest) / 4)
        guard let self, held.isKept(id, ticket) else { return }
        // After an error, the next attempt may succeed.
        try? await database.use(.short) { table throws(SQOAuthError) in
          try await table.keepLease(id, ticket: ticket)
        }
      }
    }
  }
}
