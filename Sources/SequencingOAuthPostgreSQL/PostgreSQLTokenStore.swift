import Basics
import Glibc
public import SequencingOAuth

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Keeps tokens in a PostgreSQL database, which any number of hosts share.
///
/// Each account is refreshed by one host at a time. A save replaces exactly the record from which
/// the refresh was made, so a host that was suspended cannot overwrite what its successor saved.
/// Before a refresh token is sent, the account's lease is marked. A lease without that mark is
/// taken over 10 s after its holder was killed; one with it after 160 s, when the request can no
/// longer be under way.
///
/// Every record is sealed under a `StoreKey` and bound to its account, so the database's
/// administrator can read the ids of the accounts, but no token. A person who can write to the
/// database can remove accounts or put back older records unnoticed.
///
/// A call takes at most 30 s, and the time of connecting: up to 5 s for each server in the
/// connection string, unless that has another `connect_timeout`. A saved record is as safe as
/// PostgreSQL's `synchronous_commit` makes it.
public final class PostgreSQLTokenStore: TokenStore {
  let database: AccountDatabase
  private let held = HeldLeases()
  /// `nil` if a setting of the store is wrong.
  private let notices: AccountNotices?

  /// How long a caller waits in ``lease(_:)`` for another holder, and between two looks if no notice
  /// can come.
  private static let wait = (longest: Duration.seconds(2), step: Duration.milliseconds(500))

  /// Makes a store; its first call connects, and makes the tables if they are missing.
  ///
  /// `connection` is a connection string of libpq, such as `postgresql://app@db.example/app`. It
  /// may name several servers, of which the primary is used. libpq finds the password in the
  /// string, in `PGPASSWORD` or in `~/.pgpass`. If the string names no `sslmode`, a server on
  /// another machine must use TLS with a certificate of its name (`verify-full`) from an authority
  /// that the system trusts. A weaker `sslmode` in the string is obeyed.
  ///
  /// `connections` is how many connections the store opens at most. All hosts must use the same
  /// key; `otherKeys` are for the time of a ``changeKey(to:)``. The store works through a pooler
  /// such as PgBouncer too.
  public convenience init(
    connection: String, key: StoreKey, otherKeys: [StoreKey] = [],
    schema: String = "sequencing_oauth", connections: Int = 4
  ) {
    self.init(
      connection: connection, key: key, otherKeys: otherKeys, schema: schema,
      connections: connections, limit: .seconds(30))
  }

  /// Makes a store with another limit for a call.
  package init(
    connection: String, key: StoreKey, otherKeys: [StoreKey] = [],
    schema: String = "sequencing_oauth", connections: Int = 4, limit: Duration
  ) {
    database = AccountDatabase(
      connection: connection, schema: schema, keys: [key] + otherKeys, connections: connections,
      limit: limit)
    notices = database.listening.map { AccountNotices($0.settings, $0.statements) }
  }

  deinit {
    notices?.close()
  }

  // MARK: Records

  /// Loads the record of an account, or `nil` if the store has none.
  public func load(_ id: String) async throws(SQOAuthError) -> AccountRecord? {
    let lease = held.lease(id)
    let found = try await database.use { table throws(SQOAuthError) in try await table.load(id) }
    notices?.know(id, found?.version)
    if let lease {
      held.know(id, lease.ticket, HeldLeases.Known(version: found?.version, record: found?.record))
    }
    return found?.record
  }

  /// Saves a record; it replaces the account's earlier record.
  ///
  /// While the caller has the account's lease, a record of the same sign-in replaces only the
  /// record that the caller last loaded or saved.
  ///
  /// - Throws: `SQOAuthError.Code.accountChanged` if another host has changed the account since;
  ///   `invalidConfiguration` if the account's id is longer than 2048 bytes.
  public func save(_ record: AccountRecord) async throws(SQOAuthError) {
    try Self.check(record.id)
    let lease = held.lease(record.id)
    if let lease, let known = lease.known, let before = known.record, let version = known.version {
      // It was made safe already when it landed.
      if before == record { return }
      if before.session == record.session {
        return try await replace(before: version, record, lease.ticket)
      }
    }
    let version = try await database.use(.long) { table throws(SQOAuthError) in
      try await table.put(record)
    }
    changed(record.id, to: version)
    if let lease {
      held.know(record.id, lease.ticket, HeldLeases.Known(version: version, record: record))
    }
  }

  private func replace(
    before version: Int64, _ record: AccountRecord, _ ticket: Data
  ) async throws(SQOAuthError) {
    var sealed: SealedRecord?
    let isSaved = try await database.use(.long) { table throws(SQOAuthError) in
      try await table.replace(version: version, record, sealed: &sealed, ticket: ticket)
    }
    guard isSaved else { throw Self.wasChanged(record.id) }
    changed(record.id, to: version + 1)
    held.know(record.id, ticket, HeldLeases.Known(version: version + 1, record: record))
  }

  /// Tells the other hosts of a change that this store has made.
  private func changed(_ id: String, to version: Int64?) {
    notices?.know(id, version)
    notices?.announce(id)
  }

  /// Throws if an id is too long for the index of the tables, which has a limit of 2704 bytes.
  private static func check(_ id: String) throws(SQOAuthError) {
    guard id.utf8.count > longestID else { return }
    throw SQOAuthError(
      .invalidConfiguration,
      "the id of an account in a token database may have \(longestID) bytes, and one has "
        + "\(id.utf8.count)")
  }

  private static let longestID = 2048

  private static func wasChanged(_ id: String) -> SQOAuthError {
    SQOAuthError(
      .accountChanged, "another host has changed the account \"\(id.printable)\" in the meantime")
  }

  /// Removes the record of an account.
  public func erase(_ id: String) async throws(SQOAuthError) {
    let lease = held.lease(id)
    try await database.use(.long) { table throws(SQOAuthError) in try await table.erase(id) }
    changed(id, to: nil)
    if let lease { held.know(id, lease.ticket, HeldLeases.Known()) }
  }

  /// Lists the ids of all accounts that have a record.
  public func list() async throws(SQOAuthError) -> [String] {
    try await database.use { table throws(SQOAuthError) in try await table.list() }
  }

  /// Loads the records of all accounts.
  public func all() async throws(SQOAuthError) -> [AccountRecord] {
    var records: [AccountRecord] = []
    var page: [AccountRecord]
    repeat {
      page = try await self.page(after: records.last?.id, limit: Self.pageSize)
      records += page
    } while page.count == Self.pageSize
    return records.sorted { $0.id < $1.id }
  }

  private static let pageSize = 1000

  /// Loads the records of the accounts that follow an id, at most `limit` of them.
  public func page(
    after id: String?, limit: Int
  ) async throws(SQOAuthError) -> [AccountRecord] {
    try await database.use { table throws(SQOAuthError) in
      try await table.page(after: id, atMost: limit)
    }
  }

  // MARK: Leases

  /// Takes the exclusive right to change an account; it holds for all hosts.
  ///
  /// Returns `nil` while another caller in this process has that right, and if a caller elsewhere
  /// still has it after 2 s.
  public func lease(_ id: String) async throws(SQOAuthError) -> AccountLease? {
    try Self.check(id)
    let end = ContinuousClock.now + Self.wait.longest
    let lease = HeldLeases.Lease(ticket: Data(UUID().uuidString.utf8))
    guard held.begin(id, lease) else { return nil }
    return try await take(id, lease, until: end)
  }

  private func take(
    _ id: String, _ lease: HeldLeases.Lease, until end: ContinuousClock.Instant
  ) async throws(SQOAuthError) -> AccountLease? {
    let ticket = lease.ticket
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
      held.end(id, ticket)
      throw error
    }
    held.end(id, ticket)
    return nil
  }

  private func isTaken(_ id: String, _ ticket: Data) async throws(SQOAuthError) -> Bool {
    try await database.use { table throws(SQOAuthError) in
      if try await table.takeLease(id, ticket: ticket, holder: Self.holder) { return true }
      _ = try await table.holder(id)
      return false
    }
  }

  private func taken(_ id: String, _ ticket: Data) -> AccountLease {
    AccountLease { [self] in release(id, ticket) }
  }

  /// Waits until the lease may be free.
  private func wait(for bell: OneShot<Void>, until end: ContinuousClock.Instant) async {
    // Spread, so that hosts that wait for one account do not ask together.
    let step = Self.wait.step * Double.random(in: 0.5...1)
    let next = (notices?.areHeard ?? false) ? end : min(end, .now + step)
    _ = await bell.wait(until: next)
  }

  private func release(_ id: String, _ ticket: Data) {
    Task { [self] in
      // If this fails, the lease ends by itself.
      try? await database.use(.long) { table throws(SQOAuthError) in
        try await table.endLease(id, ticket: ticket)
      }
      held.end(id, ticket)
      notices?.announce(id)
    }
  }

  /// How this process names itself to others that wait for it.
  private static let holder: String = {
    var name = [CChar](repeating: 0, count: 256)
    gethostname(&name, name.count - 1)
    let host = String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    return "process \(getpid()) on host \(host.printable)"
  }()

  /// Calls a closure when another host may have changed an account, until the observation ends.
  ///
  /// The change is usually noticed at once. If a notice was lost, or behind a connection pooler, it
  /// is noticed after 30 s or 5 s.
  public func observe(
    _ id: String, _ onChange: @escaping @Sendable () -> Void
  ) -> AccountObservation? {
    guard let notices else { return nil }
    let observer = notices.observe(id, onChange)
    return AccountObservation { notices.end(observer, of: id) }
  }

  /// Names the process and the host that have the right to change an account.
  public func leaseHolder(_ id: String) async -> String? {
    let holder = try? await database.use { table throws(SQOAuthError) in try await table.holder(id)
    }
    return holder ?? nil
  }

  /// Marks the account's lease, as the last step before a refresh token is sent.
  ///
  /// - Throws: `SQOAuthError.Code.accountChanged` if another host has taken the lease over or
  ///   changed the account since: then nothing may be sent.
  public func reserve(
    _ id: String, replacing record: AccountRecord?
  ) async throws(SQOAuthError) -> AccountReservation {
    guard let record else {
      try await database.use { table throws(SQOAuthError) in try await table.checkWriting() }
      return AccountReservation()
    }
    guard let lease = held.lease(id), let known = lease.known, known.record == record,
      let version = known.version,
      try await database.use(
        .short,
        { table throws(SQOAuthError) in
          try await table.markSent(id, ticket: lease.ticket, version: version)
        })
    else { throw Self.wasChanged(id) }
    return AccountReservation(
      land: { [self] in try? await replace(before: version, $0, lease.ticket) })
  }
}
