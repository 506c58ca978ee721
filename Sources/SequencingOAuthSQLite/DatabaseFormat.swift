import SQBasics
import SequencingOAuth

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The tables of a token database, and the marks by which the store recognizes its own files.
enum DatabaseFormat {
  /// The letters "SQOA", in the header field that SQLite reserves for an application's number.
  ///
  /// - SeeAlso: The SQLite Database File Format, section 1.3.16
  static let applicationID: UInt32 = 0x5351_4F41
  /// The number of the tables.
  ///
  /// Number 1 had three forms: the first one without `used` and `registrations`, the next one without
  /// `registrations`. Number 2 adds the digests of users and sessions. A change of the tables needs a
  /// new number, and ``upgrade(_:noting:)`` makes it of the earlier ones.
  static let version: UInt32 = 2

  /// The tables of a token database and their indexes, in the order of their texts; so an index comes
  /// before its table.
  ///
  /// An account has the digests by which a provider's user and session are found. They are empty if
  /// its record has none, and missing if an earlier program wrote it.
  ///
  /// The accounts keep their row ids since records are long: with the text alone as the key,
  /// 100,000 of them took twice the space and the time.
  ///
  /// A registration has the digest of its server's issuer, so that a sealed database does not show
  /// where its accounts are.
  ///
  /// The used values are so few that finding the expired ones needs no index.
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
    // The file has a temporary name, so it need not survive a crash before it is complete.
    try connection.execute("PRAGMA journal_mode=MEMORY; PRAGMA synchronous=OFF")
    try connection.transaction { () throws(SQOAuthError) in
      try connection.execute(
        "PRAGMA application_id=\(applicationID); PRAGMA user_version=\(version)")
      for table in tables.reversed() { try connection.execute(table) }
      try setHeader(header, connection)
    }
    // Sets the lasting mode, which the file itself records.
    try connection.beginWriting()
  }

  /// Makes the present tables of those of an earlier version, in one transaction.
  ///
  /// Another process may do this at the same time. An earlier program that has the database open goes
  /// on until it opens it again; what it adds has no digests, and is read by each search.
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

  /// The version; the log may hold a newer number than the file's header.
  private static func number(_ connection: Connection) throws(SQOAuthError) -> UInt32 {
    try connection.run("PRAGMA user_version") { UInt32(truncatingIfNeeded: $0.integer(0)) }.first
      ?? 0
  }

  private static func found(_ connection: Connection) throws(SQOAuthError) -> [String] {
    try connection.run("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL") { $0.text(0) }
      .compactMap(\.self).sorted()
  }

  // MARK: The header of the key

  /// The data that opening the records' sealer needs; `nil` for a database in clear.
  static func header(_ connection: Connection) throws(SQOAuthError) -> Data? {
    try connection.run("SELECT value FROM meta WHERE name = 'key'") { $0.blob(0) }.first
  }

  static func setHeader(_ header: Data?, _ connection: Connection) throws(SQOAuthError) {
    try connection.run("DELETE FROM meta WHERE name = 'key'") { _ in }
    guard let header else { return }
    try connection.run("INSERT INTO meta (name, value) VALUES ('key', ?1)", .blob(header)) { _ in }
  }

  // MARK: What is refused

  /// Refuses a file that is not a token database of this version, before anything is changed in it.
  static func check(header: [UInt8]?) throws(SQOAuthError) {
    guard let header else {
      throw SQOAuthError(.storeDamaged, "it is cut off; it is left as it is")
    }
    guard header.starts(with: Array("SQLite format 3\0".utf8)),
      integer(in: header, at: 68) == applicationID
    else {
      throw SQOAuthError(
        .storeFailed, "it belongs to another program or is damaged; it is left as it is")
    }
    try check(version: integer(in: header, at: 60))
  }

  /// Refuses tables that this version does not create, and content that contradicts itself.
  static func check(_ connection: Connection) throws(SQOAuthError) {
    let version = try number(connection)
    try check(version: version)
    // A trigger, for example, would be foreign code that runs with every save.
    let found = try found(connection)
    // Checked before any record is read: a damaged page may look like a page without the account.
    let check = try connection.run("PRAGMA integrity_check(1)") { $0.text(0) }
    let forms = version == Self.version ? [tables] : earlierForms
    guard forms.contains(found), check == ["ok"] else {
      throw SQOAuthError(.storeDamaged, "it is damaged; it is left as it is")
    }
  }

  /// The tables of version 1, as three programs made them.
  private static let earlierForms = [
    [firstAccounts, commonTables[0]], [firstAccounts, commonTables[0], commonTables[2]],
    [firstAccounts] + commonTables,
  ]
  private static let firstAccounts =
    "CREATE TABLE accounts (id TEXT PRIMARY KEY NOT NULL, value BLOB NOT NULL) STRICT"

  private static func check(version: UInt32) throws(SQOAuthError) {
    guard version <= Self.version else {
      throw SQOAuthError(
        .storeTooNew, "version \(version) of its format is newer than this program")
    }
    guard version > 0 else {
      throw SQOAuthError(.storeDamaged, "it has no version; it is left as it is")
    }
  }

  private static func integer(in header: [UInt8], at offset: Int) -> UInt32 {
    header[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
  }
}
