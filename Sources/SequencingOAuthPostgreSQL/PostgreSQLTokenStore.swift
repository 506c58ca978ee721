import SQBasics
public import SequencingOAuth

#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
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
/// administrator can read the ids of the accounts and which of them belong to one user, but no token.
/// A person who can write to the database can remove accounts or put back older records unnoticed.
///
/// A call waits at most 30 s for a free connection and for the answers to its statements. The time
/// of connecting comes on top: up to 5 s for each server in the connection string, unless that has
/// another `connect_timeout`. A server that cannot be reached is tried for 5 s, and for 30 s by a
/// call that saves or erases; an attempt that begins in that time may end after it. A saved record
/// is as safe as PostgreSQL's `synchronous_commit` makes it.
public final class PostgreSQLTokenStore: TokenStore {
  let database: AccountDatabase
  let held = HeldLeases()
  /// The claims on due accounts whose answers did not arrive.
  let lostClaims = Locked(LostClaims())
  /// What this store does after its calls have returned.
  let work = WorkUnderWay()
  /// `nil` if a setting of the store is wrong.
  let notices: AccountNotices?

  /// Makes a store; its first call connects, and makes the tables if they are missing.
  ///
  /// `connection` is a connection string of libpq, such as `postgresql://app@db.example/app`. It
  /// may name several servers, of which the primary is used. libpq finds the password in the
  /// string, in `PGPASSWORD` or in `~/.pgpass`. If neither the string nor the environment variable
  /// `PGSSLMODE` names an `sslmode`, a server on another machine must use TLS with a certificate of
  /// its name (`verify-full`), from an authority in `~/.postgresql/root.crt` or, without that file,
  /// from one that the system trusts. A weaker mode in either is obeyed, and so is each parameter that
  /// the file of a service has (`service=`, `PGSERVICE`).
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
    if let lease { held.loaded(id, lease.ticket, found) }
    return found?.record
  }

  /// Saves a record; it replaces the account's earlier record.
  ///
  /// While the caller has the account's lease, a record of the same sign-in replaces only the
  /// record from which the token was refreshed, or which the caller last loaded or saved.
  ///
  /// - Throws: `SQOAuthError.Code.accountChanged` if another host has changed the account since;
  ///   `invalidConfiguration` if the account's id is longer than 2048 bytes.
  public func save(_ record: AccountRecord) async throws(SQOAuthError) {
    try Self.check(record.id)
    let lease = held.lease(record.id)
    if let lease, let before = lease.row(before: record) {
      // It was made safe already when it landed.
      if before.record == record { return }
      if lease.isUnsaved { held.received(record.id, lease.ticket) }
      return try await replace(before.version, record, lease.ticket)
    }
    let version = try await database.use(.long) { table throws(SQOAuthError) in
      try await table.put(record)
    }
    changed(record.id, to: version)
    if let lease { held.saved(record.id, lease.ticket, .init(version: version, record: record)) }
  }

  /// Saves a record in place of the row with a version.
  func replace(
    _ version: Int64, _ record: AccountRecord, _ ticket: Data,
    _ patience: AccountDatabase.Patience = .long
  ) async throws(SQOAuthError) {
    var sealed: SealedRecord?
    let isSaved = try await database.use(patience) { table throws(SQOAuthError) in
      try await table.replace(version: version, record, sealed: &sealed, ticket: ticket)
    }
    guard isSaved else {
      held.lost(record.id, ticket)
      throw Self.wasChanged(record.id)
    }
    changed(record.id, to: version + 1)
    held.saved(record.id, ticket, .init(version: version + 1, record: record))
  }

  /// Tells the other hosts of a change that this store has made.
  private func changed(_ id: String, to version: Int64?) {
    notices?.know(id, version)
    notices?.announce(id)
  }

  /// Throws if an id is too long for the index of the tables, which has a limit of 2704 bytes.
  static func check(_ id: String) throws(SQOAuthError) {
    guard id.utf8.count > longestID else { return }
    throw SQOAuthError(
      .invalidConfiguration,
      "the id of an account in a token database may have \(longestID) bytes, and one has "
        + "\(id.utf8.count)")
  }

  private static let longestID = 2048

  static func wasChanged(_ id: String) -> SQOAuthError {
    SQOAuthError(
      .accountChanged, "another host has changed the account \"\(id.printable)\" in the meantime")
  }

  /// Removes the record of an account.
  public func erase(_ id: String) async throws(SQOAuthError) {
    let lease = held.lease(id)
    try await database.use(.long) { table throws(SQOAuthError) in try await table.erase(id) }
    erased(id, lease)
  }

  private func erased(_ id: String, _ lease: HeldLeases.Lease?) {
    changed(id, to: nil)
    if let lease { held.saved(id, lease.ticket, nil) }
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
}

extension PostgreSQLTokenStore: ComparingTokenStore {}

extension PostgreSQLTokenStore: RefusedTokenEraser {
  package func erase(
    _ id: String, ifTokenIsIn tokens: [SQToken]
  ) async throws(SQOAuthError) {
    let lease = held.lease(id)
    let isErased = try await database.use(.long) { table throws(SQOAuthError) in
      try await table.erase(id, ifTokenIsIn: tokens)
    }
    if isErased {
      erased(id, lease)
    } else if let lease {
      held.lost(id, lease.ticket)
    }
  }
}

extension PostgreSQLTokenStore: SessionIndex {
  package func entries(of session: SessionName) async throws(SQOAuthError) -> [AccountEntry] {
    try await database.use { table throws(SQOAuthError) in
      try await table.entries(of: session)
    }
  }
}

extension PostgreSQLTokenStore: AccountEntryPages {
  package func entries(
    after key: Data?, limit: Int
  ) async throws(SQOAuthError) -> [AccountEntry] {
    try await database.use { table throws(SQOAuthError) in
      try await table.entries(after: key, atMost: limit)
    }
  }
}
