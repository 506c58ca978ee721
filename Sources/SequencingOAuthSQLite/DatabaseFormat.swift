import SQBasics
import SQFoundation
import SequencingOAuth

/// The tables of a token database, and the numbers that identify the store's own files.
enum DatabaseFormat {
  /// The letters "SQOA", in the header field that SQLite reserves for an application ID.
  ///
  /// - SeeAlso: The SQLite Database File Format, section 1.3.15
  static let applicationID: UInt32 = 0x5351_4F41
  /// The current version of the tables.
  ///
  /// Version 1 had three forms: the first had no `used` and no `registrations`, the second had no
  /// `registrations`, and the third had both. Version 2 adds the digests of users and sessions. A
  /// change of the tables needs a new version, and ``upgrade(_:noting:)`` must convert all earlier
  /// versions.
  static let version: UInt32 = 2

  /// The statements that create the tables and indexes, in alphabetical order.
  ///
  /// An account has digests for searches by the provider's user or session. A digest is empty if
  /// the record has no such name, and `NULL` if an earlier program wrote the record.
  ///
  /// The table of accounts has row IDs because records are long: with `WITHOUT ROWID`, 100,000
  /// accounts took twice the space and the time.
  ///
  /// A registration is stored under a digest of its server's issuer, so that an encrypted database
  /// does not show the servers of its accounts.
  ///
  /// The used values have no index on their time, because a use looks for expired values in a few
  /// rows only. An index would need a new version: a program accepts exactly the indexes it knows.
  static let tables =
    [
      "CREATE INDEX accounts_session ON accounts (session)",
      "CREATE INDEX accounts_user ON accounts (user)",
      """
      CREATE TABLE accounts (id TEXT PRIMARY KEY NOT NULL, value BLOB NOT NULL, \
      user BLOB, session BLOB) STRICT
      """,
    ] + commonTables

  private static let commonTables = [
    "CREATE TABLE meta (name TEXT PRIMARY KEY NOT NULL, value BLOB NOT NULL) STRICT",
    "CREATE TABLE registrations (server BLOB PRIMARY KEY NOT NULL, value BLOB NOT NULL) STRICT",
    """
    CREATE TABLE used (value TEXT PRIMARY KEY NOT NULL, until INTEGER NOT NULL) \
    STRICT, WITHOUT ROWID
    """,
  ]

  /// Creates the tables in an empty file and stores the key's header, in one transaction.
  static func make(_ connection: Connection, header: Data?) throws(SQOAuthError) {
    // The file still has a temporary name, so it need not survive a crash.
    try connection.execute("PRAGMA journal_mode=MEMORY; PRAGMA synchronous=OFF")
    try connection.transaction { () throws(SQOAuthError) in
      try connection.execute(
        "PRAGMA application_id=\(applicationID); PRAGMA user_version=\(version)")
      for table in tables.reversed() { try connection.execute(table) }
      try setHeader(header, connection)
    }
    // The first write sets the journal mode WAL, which the file keeps.
    try connection.beginWriting()
  }

  /// Upgrades the tables of an earlier version, in one transaction.
  ///
  /// Another process may call this method at the same time. An earlier program that has the
  /// database open can continue until it opens the database again. Accounts that it adds have no
  /// digests, so each search reads their records. If it signs another user in to an account that has
  /// digests, those of the earlier user stay until a later program saves the account. So such
  /// programs should end before a program of this version starts.
  static func upgrade(
    _ connection: Connection, noting noteDigests: () throws(SQOAuthError) -> Void
  ) throws(SQOAuthError) {
    guard try number(connection) < version else { return }
    try connection.transaction { () throws(SQOAuthError) in
      guard try number(connection) < version else { return }
      try connection.execute(
        "ALTER TABLE accounts ADD COLUMN user BLOB; ALTER TABLE accounts ADD COLUMN session BLOB")
      let found = try self.found(connection)
      for table in tables.reversed() where !found.contains(table) {
        try connection.execute(table)
      }
      try noteDigests()
      try connection.execute("PRAGMA user_version=\(version)")
    }
  }

  /// Reads the version of the tables, which may be newer in the log than in the file.
  private static func number(_ connection: Connection) throws(SQOAuthError) -> UInt32 {
    try connection.run("PRAGMA user_version") { UInt32(truncatingIfNeeded: $0.integer(0)) }.first
      ?? 0
  }

  private static func found(_ connection: Connection) throws(SQOAuthError) -> [String] {
    try connection.run("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL") { $0.text(0) }
      .compactMap(\.self).sorted()
  }

  // MARK: The header of the key

  /// Reads the header that verifies the key of the records; `nil` without encryption.
  static func header(_ connection: Connection) throws(SQOAuthError) -> Data? {
    try connection.run("SELECT value FROM meta WHERE name = 'key'") { $0.blob(0) }.first
  }

  static func setHeader(_ header: Data?, _ connection: Connection) throws(SQOAuthError) {
    try connection.run("DELETE FROM meta WHERE name = 'key'") { _ in }
    guard let header else { return }
    try connection.run("INSERT INTO meta (name, value) VALUES ('key', ?1)", .blob(header)) { _ in }
  }

  // MARK: Checking

  /// Throws unless a file's header belongs to a token database with a known version.
  static func check(header: [UInt8]?) throws(SQOAuthError) {
    guard let header else {
      throw SQOAuthError(
        .storeDamaged,
        "it is no database, or its end is missing; nothing was changed: check the path, or restore a "
          + "copy")
    }
    guard header.starts(with: Array("SQLite format 3\0".utf8)),
      integer(in: header, at: 68) == applicationID
    else {
      throw SQOAuthError(
        .storeFailed, "it belongs to another program or is damaged; it was not changed")
    }
    // The versions for writing and reading: 1 for a rollback journal, 2 for a write-ahead log.
    guard header[18...19].allSatisfy({ $0 <= 2 }) else {
      throw SQOAuthError(
        .storeTooNew,
        "another SQLite has set a journal mode that this program's SQLite does not know; it was not "
          + "changed: set the mode WAL with that SQLite")
    }
    try check(version: integer(in: header, at: 60))
  }

  /// Throws if the database's tables match no known version, or if its content is inconsistent.
  ///
  /// Call it before any record is read: a damaged page may look like a page without the account.
  static func check(_ connection: Connection) throws(SQOAuthError) {
    do throws(SQOAuthError) {
      return try checkOnce(connection)
    } catch {
      guard error.code == .storeDamaged else { throw error }
    }
    // SQLite also calls a page damaged that the disk could not read.
    try connection.readAll()
    try checkOnce(connection)
  }

  private static func checkOnce(_ connection: Connection) throws(SQOAuthError) {
    let version = try number(connection)
    try check(version: version)
    // Accept only the known tables and indexes. A trigger, for example, would run foreign code with
    // every save.
    let found = try found(connection)
    let forms = version == Self.version ? [tables] : earlierForms
    guard forms.contains(found), try isConsistent(connection) else { throw .damagedFile }
  }

  private static func isConsistent(_ connection: Connection) throws(SQOAuthError) -> Bool {
    try connection.run("PRAGMA integrity_check(1)") { $0.text(0) } == ["ok"]
  }

  /// The tables of the three forms of version 1.
  private static let earlierForms = [
    [firstAccounts, commonTables[0]], [firstAccounts, commonTables[0], commonTables[2]],
    [firstAccounts] + commonTables,
  ]
  private static let firstAccounts =
    "CREATE TABLE accounts (id TEXT PRIMARY KEY NOT NULL, value BLOB NOT NULL) STRICT"

  private static func check(version: UInt32) throws(SQOAuthError) {
    guard version <= Self.version else {
      throw .tooNew("version \(version) of its format")
    }
    guard version > 0 else {
      throw SQOAuthError(
        .storeDamaged,
        "it does not contain the version of its format, so it is damaged; nothing was changed: "
          + "restore a copy, or remove it and sign in again")
    }
  }

  private static func integer(in header: [UInt8], at offset: Int) -> UInt32 {
    header[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
  }
}
