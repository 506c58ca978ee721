import SQBasics
public import SQFoundation
public import SequencingOAuth

/// A token store in a PostgreSQL database that any number of hosts share.
///
/// Only one host at a time refreshes an account: the host that holds the account's lease, the
/// exclusive right to change the account. A save replaces exactly the record that the refresh
/// started from, so a host that was suspended cannot overwrite a newer record of another host.
///
/// A host extends its lease for as long as it uses it, for example during a sign-in. Before the host
/// sends a refresh token, it marks the lease. If the host is killed or suspended, another host takes
/// over the lease: an unmarked lease after 10 s, a marked lease after 170 s, when the request must
/// have ended.
///
/// Every record is encrypted with a `StoreKey` and bound to its account. The database's
/// administrator can read the accounts' IDs and see which accounts belong to one user, but cannot
/// read tokens. A person who can write to the database can remove accounts or restore older records
/// without being noticed.
///
/// A call waits at most 30 s for a free connection and for the answers to its statements, not
/// counting the time to connect. Connecting takes up to 5 s for each server in the connection
/// string, unless the string sets another `connect_timeout`. If no server can be reached any more,
/// a call tries again for 5 s; a call that saves or erases tries again for 30 s. The last attempt
/// may end later. Before the store's first connection, a call fails without a second attempt. How
/// safe a saved record is depends on PostgreSQL's setting `synchronous_commit`.
public final class PostgreSQLTokenStore: TokenStore {
  let database: AccountDatabase
  let held = HeldLeases()
  /// The claims on due accounts that the database may have made although no answer arrived.
  let lostClaims = Locked(LostClaims())
  /// The tasks that continue after the store's calls have returned.
  let work = WorkUnderWay()
  /// The sender and receiver of notices of changes; `nil` if a setting of the store is wrong.
  let notices: AccountNotices?

  /// Creates a store; its first call connects, and creates the tables if they are missing.
  ///
  /// `connection` is a libpq connection string, such as `postgresql://app@db.example/app`. If it
  /// names several servers, the store uses the primary. libpq reads the password from the string,
  /// from `PGPASSWORD` or from `~/.pgpass`.
  ///
  /// If neither the string nor the environment variable `PGSSLMODE` sets an `sslmode`, a server on
  /// another machine must use TLS with a certificate for its name (`verify-full`). The
  /// certificate's authority must be in `~/.postgresql/root.crt` or, without that file, be trusted
  /// by the system. If a weaker mode is set, the store obeys it. The mode `verify-ca` does not check
  /// the server's name, so it needs that file or `sslrootcert`. The store also obeys the parameters
  /// of a libpq service file (`service=`, `PGSERVICE`), except `sslmode=prefer`: that is libpq's
  /// own default, so the store cannot tell that the file sets it.
  ///
  /// The store opens at most `connections` connections for its calls. All hosts must use the same
  /// key; `otherKeys` are needed only for a change of the key with ``changeKey(to:)``. The store
  /// also works through a connection pooler such as PgBouncer.
  public convenience init(
    connection: String, key: StoreKey, otherKeys: [StoreKey] = [],
    schema: String = "sequencing_oauth", connections: Int = 4
  ) {
    self.init(
      connection: connection, key: key, otherKeys: otherKeys, schema: schema,
      connections: connections, limit: .seconds(30))
  }

  /// Creates a store with a different time limit for calls, and a different `patience`: the time
  /// for which tables must be gone before a running program creates them again.
  package init(
    connection: String, key: StoreKey, otherKeys: [StoreKey] = [],
    schema: String = "sequencing_oauth", connections: Int = 4, limit: Duration,
    patience: Duration = .seconds(60)
  ) {
    database = AccountDatabase(
      connection: connection, schema: schema, keys: [key] + otherKeys, connections: connections,
      limit: limit, patience: patience)
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

  /// Saves a record, replacing the account's earlier record.
  ///
  /// While the caller has the account's lease, a record of the same sign-in replaces only the
  /// record that its token was refreshed from, or the record that the caller last loaded or saved.
  /// It also replaces an older record of the sign-in that the database went back to, for example
  /// in a failover.
  ///
  /// - Throws: `SQOAuthError.Code.accountChanged` if another host has changed the account since
  ///   that refresh, load or save, or if this process has erased the account or signed it in again;
  ///   `invalidConfiguration` if the account's ID is longer than 2048 bytes.
  public func save(_ record: AccountRecord) async throws(SQOAuthError) {
    try Self.check(record.id)
    let lease = held.lease(record.id)
    if let lease, let before = lease.row(before: record) {
      // `reserve(_:replacing:)` has already saved this record when the server's answer arrived.
      if lease.hasSaved(record, as: before) { return }
      if lease.isUnsaved { held.received(record.id, lease.ticket) }
      return try await replace(before.version, record, lease.ticket)
    }
    let ticket = Self.ticket()
    let version = try await database.use(.long) { table throws(SQOAuthError) in
      try await table.put(record, ticket: ticket)
    }
    if let version {
      changed(record.id, to: version)
    } else {
      // Another host has changed the account since this save, so the next comparison of versions
      // must report a change to the session.
      notices?.forget(record.id)
    }
    guard let lease else { return }
    let row = version.map { HeldLeases.Row(version: $0, record: record) }
    held.saved(record.id, lease.ticket, row)
  }

  /// Returns a random ID by which a statement that is repeated after a lost answer recognizes that
  /// it was already carried out.
  static func ticket() -> Data { Data(UUID().uuidString.utf8) }

  /// Saves a record if the account's row still has the given version, or an older record of the
  /// same sign-in; otherwise throws.
  ///
  /// If the database has an older record, it has lost what this host saved. The older refresh token
  /// is used up, so the new record must be there before the lease ends and another host begins.
  func replace(
    _ version: Int64, _ record: AccountRecord, _ ticket: Data,
    _ retryTime: AccountDatabase.RetryTime = .long
  ) async throws(SQOAuthError) {
    var (version, sealed) = (version, nil as SealedRecord?)
    let isSaved = try await database.use(retryTime) { table throws(SQOAuthError) in
      while try await !table.replace(version: version, record, sealed: &sealed, ticket: ticket) {
        guard let older = try await table.ancestor(of: record) else { return false }
        version = older
      }
      return true
    }
    guard isSaved else {
      held.lost(record.id, ticket)
      throw Self.wasChanged(record.id)
    }
    changed(record.id, to: version + 1)
    held.saved(record.id, ticket, .init(version: version + 1, record: record))
  }

  /// Notifies other hosts of a change that this store has made.
  private func changed(_ id: String, to version: Int64?) {
    notices?.know(id, version)
    notices?.announce(id)
  }

  /// Throws if an ID is too long for the tables' indexes, whose entries have at most 2704 bytes.
  static func check(_ id: String) throws(SQOAuthError) {
    guard id.utf8.count > longestID else { return }
    throw SQOAuthError(
      .invalidConfiguration,
      "an account's id in a token database may have at most \(longestID) bytes, and this id has "
        + "\(id.utf8.count)")
  }

  private static let longestID = 2048

  static func wasChanged(_ id: String) -> SQOAuthError {
    SQOAuthError(
      .accountChanged,
      "another process has changed the account \"\(id.printable)\" in the meantime, or is about to")
  }

  /// Removes the record of an account.
  public func erase(_ id: String) async throws(SQOAuthError) {
    let (lease, ticket) = (held.lease(id), Self.ticket())
    try await database.use(.long) { table throws(SQOAuthError) in
      try await table.erase(id, ticket: ticket)
    }
    erased(id, lease)
  }

  private func erased(_ id: String, _ lease: HeldLeases.Lease?) {
    changed(id, to: nil)
    if let lease { held.saved(id, lease.ticket, nil) }
  }

  /// Lists the IDs of all accounts that have a record.
  public func list() async throws(SQOAuthError) -> [String] {
    try await database.use { table throws(SQOAuthError) in try await table.list() }
  }
}

extension PostgreSQLTokenStore: ComparingTokenStore {
  /// Erases an account whose token the server refused, unless another host has stored a new token.
  public func erase(
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

extension PostgreSQLTokenStore: ReservingTokenStore {}

extension PostgreSQLTokenStore: SessionIndex {
  /// Returns the accounts of a user or a session, found by an index on digests of their names.
  public func entries(of session: SessionName) async throws(SQOAuthError) -> [AccountEntry] {
    try await database.use { table throws(SQOAuthError) in
      try await table.entries(of: session)
    }
  }
}

extension PostgreSQLTokenStore: PagedTokenStore {
  /// Reads the next accounts after `key`, at most `limit`, in the order of `AccountEntry.key`.
  public func entries(
    after key: Data?, limit: Int
  ) async throws(SQOAuthError) -> [AccountEntry] {
    try await database.use { table throws(SQOAuthError) in
      try await table.entries(after: key, atMost: limit)
    }
  }
}
