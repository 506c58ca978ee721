import SQBasics
import SQFoundation
import SQLibC
import SequencingOAuth

/// The tables of a store, with the methods to create, check and upgrade them.
///
/// - `store`: one row with the version of these tables.
/// - `keys`: for each key, its number and the header that verifies it. A record contains the number
///   of its key.
/// - `accounts`: the encrypted records. The `version` begins with the time in microseconds and
///   grows by one with each save. The digests of the user and the session were computed for the
///   record with the version `digests_of`.
/// - `leases`: which process may change an account now. The `ticket` is a random ID of the lease.
/// - `registrations`: the encrypted client registrations, by digests of their servers.
/// - `used`: one-time values, each with a random ID (`ticket`) of the call that used it. A save or
///   an erasure that may be repeated stores the ID of its call as such a value.
/// - `pauses`: the servers that get no requests for now, how often each has failed, and whether its
///   first request after a pause is running (`asking`).
///
/// A change of the tables needs a new ``version``, and ``upgrade(_:until:)`` must convert all
/// earlier versions, because a database stays in use for years.
struct DatabaseSchema: Sendable {
  /// The current version of the tables.
  ///
  /// Version 1 had three forms. The first had no `pauses`, no `registrations`, no `used`, and no
  /// columns `server` and `due` of the accounts. The second added `pauses` and these columns, and
  /// the third added the other tables. Version 2 adds the column `asking` of the pauses and the
  /// accounts' digests.
  static let version: Int64 = 2

  /// The schema's name as an SQL identifier, in quotation marks.
  let name: String
  private let plainName: String

  /// Creates the description of a schema's tables; sends nothing.
  ///
  /// - Throws: `invalidConfiguration` for a name that PostgreSQL reserves or does not allow.
  init(_ name: String) throws(SQOAuthError) {
    guard (1...63).contains(name.utf8.count), !name.utf8.contains(0),
      !name.utf8.starts(with: "pg_".utf8)
    else {
      throw SQOAuthError(
        .invalidConfiguration,
        "the schema of a token database needs a name of 1 to 63 bytes that does not begin with pg_")
    }
    plainName = name
    self.name = "\"\(name.doubling("\""))\""
  }

  /// Checks the tables; creates them if they are missing, and upgrades earlier versions.
  ///
  /// Any number of hosts may call this method at the same time. The time of the changes is added to
  /// the deadline.
  func open(
    _ connection: Connection, until deadline: inout ContinuousClock.Instant
  ) throws(SQOAuthError) {
    while try !exists(connection, until: deadline) {
      try PostgreSQLError.reported { () throws(PostgreSQLError) in
        try make(connection, until: &deadline)
      }
    }
    while try check(connection, until: deadline) < Self.version {
      try upgrade(connection, until: &deadline)
    }
  }

  /// Returns whether the database has the tables; changes nothing.
  func exists(
    _ connection: Connection, until deadline: ContinuousClock.Instant
  ) throws(SQOAuthError) -> Bool {
    let statement = SQLStatement(
      name: "schema_exists",
      text: """
        SELECT true FROM pg_catalog.pg_class c
        JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = $1::text AND c.relname = 'store'
        """)
    return try PostgreSQLError.reported { () throws(PostgreSQLError) in
      try !connection.run(statement, [.text(plainName)], until: deadline).isEmpty
    }
  }

  /// Returns whether the database has a key; changes nothing.
  func hasKey(
    _ connection: Connection, until deadline: ContinuousClock.Instant
  ) throws(SQOAuthError) -> Bool {
    guard try exists(connection, until: deadline) else { return false }
    let statement = SQLStatement(
      name: "schema_has_key", text: "SELECT true FROM \(name).keys LIMIT 1")
    return try PostgreSQLError.reported { () throws(PostgreSQLError) in
      try !connection.run(statement, [], until: deadline).isEmpty
    }
  }

  private func make(
    _ connection: Connection, until deadline: inout ContinuousClock.Instant
  ) throws(PostgreSQLError) {
    // An administrator may have created the schema for a role without the right to create one.
    let statement = SQLStatement(
      name: "schema_has_namespace",
      text: "SELECT true FROM pg_catalog.pg_namespace WHERE nspname = $1::text")
    let hasNamespace = try !connection.run(
      statement, [.text(plainName)], until: deadline
    ).isEmpty
    try change(
      connection,
      """
      \(hasNamespace ? "" : "CREATE SCHEMA IF NOT EXISTS \(name);")
      \(tables)
      INSERT INTO \(name).store SELECT \(Self.version)
        WHERE NOT EXISTS (SELECT FROM \(name).store)
      """, within: deadline - .now, until: &deadline)
  }

  /// The statements that create missing tables and indexes.
  var tables: String {
    """
    CREATE TABLE IF NOT EXISTS \(name).store (version integer NOT NULL);
    CREATE TABLE IF NOT EXISTS \(name).keys (
      number integer PRIMARY KEY, header bytea NOT NULL);
    CREATE TABLE IF NOT EXISTS \(name).accounts (
      id bytea PRIMARY KEY, version bigint NOT NULL,
      key_number integer NOT NULL REFERENCES \(name).keys, value bytea NOT NULL,
      server bytea NOT NULL, due timestamptz,
      user_digest bytea, session_digest bytea, digests_of bigint);
    CREATE INDEX IF NOT EXISTS accounts_due ON \(name).accounts (server, due)
      WHERE due IS NOT NULL;
    CREATE INDEX IF NOT EXISTS accounts_user ON \(name).accounts (user_digest);
    CREATE INDEX IF NOT EXISTS accounts_session ON \(name).accounts (session_digest);
    CREATE INDEX IF NOT EXISTS accounts_unnoted ON \(name).accounts (id)
      WHERE digests_of IS DISTINCT FROM version;
    CREATE TABLE IF NOT EXISTS \(name).leases (
      id bytea PRIMARY KEY, ticket bytea NOT NULL, holder text NOT NULL,
      until timestamptz NOT NULL, sent boolean NOT NULL, timeline text NOT NULL);
    CREATE TABLE IF NOT EXISTS \(name).pauses (
      server bytea PRIMARY KEY, until timestamptz NOT NULL, failures integer NOT NULL,
      asking boolean NOT NULL DEFAULT false);
    CREATE TABLE IF NOT EXISTS \(name).registrations (
      server bytea PRIMARY KEY, key_number integer NOT NULL REFERENCES \(name).keys,
      value bytea NOT NULL);
    CREATE TABLE IF NOT EXISTS \(name).used (
      value bytea PRIMARY KEY, ticket bytea NOT NULL, until timestamptz NOT NULL);
    CREATE INDEX IF NOT EXISTS used_until ON \(name).used (until);
    """
  }

  /// Upgrades the tables of an earlier version, in one transaction.
  ///
  /// Any number of hosts may upgrade the tables at the same time, and hosts with an earlier program
  /// can continue until they are restarted. If a database has no due dates, its accounts become due
  /// within an hour, because the dates are in encrypted records. The new columns keep their default
  /// values, because a host with an earlier program adds accounts without these columns. The next
  /// search for a user or a session adds the missing digests.
  private func upgrade(
    _ connection: Connection, until deadline: inout ContinuousClock.Instant
  ) throws(SQOAuthError) {
    do throws(PostgreSQLError) {
      try change(
        connection,
        """
        ALTER TABLE \(name).accounts
          ADD COLUMN IF NOT EXISTS server bytea NOT NULL DEFAULT ''::bytea,
          ADD COLUMN IF NOT EXISTS due timestamptz
            DEFAULT (pg_catalog.clock_timestamp() + pg_catalog.random() * interval '1 hour'),
          ADD COLUMN IF NOT EXISTS user_digest bytea,
          ADD COLUMN IF NOT EXISTS session_digest bytea,
          ADD COLUMN IF NOT EXISTS digests_of bigint;
        \(tables)
        ALTER TABLE \(name).pauses
          ADD COLUMN IF NOT EXISTS asking boolean NOT NULL DEFAULT false;
        UPDATE \(name).store SET version = \(Self.version) WHERE version < \(Self.version)
        """, within: Self.longestUpgrade, until: &deadline)
    } catch {
      guard error.state == "42501" else { throw error.reported }
      throw SQOAuthError(
        .storeFailed,
        "the token database: its tables have an earlier version, and only their owner can upgrade "
          + "them: open the store once as the role that owns them", cause: error)
    }
  }

  /// Runs a script that changes the tables, in one transaction; blocks the thread.
  ///
  /// While a change waits for the lock of a table, for example behind a backup, all later
  /// statements of all hosts wait behind the change. So the change waits at most 2 s for each lock.
  /// If it does not get a lock, this method pauses and returns without a change; the caller may try
  /// again. After the deadline, this method throws instead. The change itself takes at most `time`,
  /// and the time that it takes is added to the deadline.
  private func change(
    _ connection: Connection, _ script: String, within time: Duration,
    until deadline: inout ContinuousClock.Instant
  ) throws(PostgreSQLError) {
    let start = ContinuousClock.now
    do throws(PostgreSQLError) {
      try connection.run(
        script: """
          SELECT pg_catalog.set_config('lock_timeout', '2s', true);
          SELECT pg_catalog.pg_advisory_xact_lock(\(Self.lock));
          \(script)
          """, until: start + time)
      deadline += ContinuousClock.now - start
    } catch {
      // During this pause, the statements of other hosts that wait for the lock can run. Without
      // the last second, the next attempt could time out, and its error would not name the cause.
      let pause = Duration.seconds(2) * Double.random(in: 0.5...1.5)
      guard error.state == PostgreSQLError.lockNotFree,
        ContinuousClock.now + pause + .seconds(1) < deadline
      else { throw error }
      usleep(useconds_t(pause / .microseconds(1)))
    }
  }

  /// The time limit of an upgrade, which may build the indexes of many accounts.
  private static let longestUpgrade = Duration.seconds(3600)

  /// The number of the advisory lock that a host holds while it creates or upgrades the tables.
  ///
  /// Other programs should not use this number.
  private static let lock: Int64 = 0x5351_4F41_7574_6801

  // MARK: Checking

  /// Checks the version and the columns of the tables; returns the version.
  private func check(
    _ connection: Connection, until deadline: ContinuousClock.Instant
  ) throws(SQOAuthError) -> Int64 {
    var version: Int64?
    var columns: [String] = []
    var oddities = 0
    try PostgreSQLError.reported { () throws(PostgreSQLError) in
      var before: Int64?
      repeat {
        before = try self.version(connection, until: deadline)
        columns = try connection.run(Self.columns, [.text(plainName)], until: deadline)
          .compactMap { $0.text(0) }
        oddities = try connection.run(Self.oddities, [.text(plainName)], until: deadline).count
        version = try self.version(connection, until: deadline)
        // Another host may have changed the tables in between.
      } while version != before
    }
    if let version, version > Self.version {
      throw .tooNew("the token database: version \(version) of its tables")
    }
    guard let version, oddities == 0,
      version == Self.version ? columns == Self.form : Self.earlierForms.contains(columns)
    else {
      throw SQOAuthError(
        .storeDamaged,
        "the token database: another program altered the tables in the schema "
          + "\(plainName.printable); no account was changed: restore a backup, or use another "
          + "schema")
    }
    return version
  }

  private func version(
    _ connection: Connection, until deadline: ContinuousClock.Instant
  ) throws(PostgreSQLError) -> Int64? {
    let statement = SQLStatement(
      name: "schema_version", text: "SELECT version FROM \(name).store")
    return try connection.run(statement, [], until: deadline).first?.integer(0)
  }
}
