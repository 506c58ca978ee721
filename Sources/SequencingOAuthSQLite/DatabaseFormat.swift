import SequencingOAuth

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The marks and the tables by which a database is known as a token store's.
enum DatabaseFormat {
  /// "SQOA", at the place that SQLite keeps for it.
  ///
  /// - SeeAlso: The SQLite Database File Format, section 1.3.16
  static let applicationID: UInt32 = 0x5351_4F41
  static let version: UInt32 = 1

  /// With row ids, since records are long: keyed by text alone, 100,000 of them took twice the room
  /// and the time.
  private static let tables = [
    "CREATE TABLE accounts (id TEXT PRIMARY KEY NOT NULL, value BLOB NOT NULL) STRICT",
    "CREATE TABLE meta (name TEXT PRIMARY KEY NOT NULL, value BLOB NOT NULL) STRICT",
  ]

  /// Makes the tables in an empty file, and puts the key's header beside them in the same step.
  static func make(_ connection: Connection, header: Data?) throws(SQOAuthError) {
    // The file has no name yet that anybody knows, so it needs no safety before it is whole.
    try connection.execute("PRAGMA journal_mode=MEMORY; PRAGMA synchronous=OFF")
    try connection.transaction { () throws(SQOAuthError) in
      try connection.execute(
        "PRAGMA application_id=\(applicationID); PRAGMA user_version=\(version)")
      for table in tables { try connection.execute(table) }
      try setHeader(header, connection)
    }
    // From here on; the file itself says so.
    try connection.beginWriting()
  }

  // MARK: The header of the key

  /// What the records' sealer needs; a database in clear has none.
  static func header(_ connection: Connection) throws(SQOAuthError) -> Data? {
    try connection.run("SELECT value FROM meta WHERE name = 'key'") { $0.blob(0) }.first
  }

  static func setHeader(_ header: Data?, _ connection: Connection) throws(SQOAuthError) {
    try connection.run("DELETE FROM meta WHERE name = 'key'") { _ in }
    guard let header else { return }
    try connection.run("INSERT INTO meta (name, value) VALUES ('key', ?1)", .blob(header)) { _ in }
  }

  // MARK: What is refused

  /// Refuses a file that is not a token database of this version, before anything has touched it.
  static func check(header: [UInt8]?) throws(SQOAuthError) {
    guard let header else {
      throw SQOAuthError(.storeDamaged, "it is cut off; it is left as it is")
    }
    guard header.starts(with: Array("SQLite format 3\0".utf8)),
      integer(in: header, at: 68) == applicationID
    else {
      throw SQOAuthError(
        .storeFailed, "it is another program's, or damaged; it is left as it is")
    }
    try check(version: integer(in: header, at: 60))
  }

  /// Refuses tables that this version does not make, and content that contradicts itself.
  static func check(_ connection: Connection) throws(SQOAuthError) {
    // Also in the log, which the header does not have.
    let version = try connection.run("PRAGMA user_version") {
      UInt32(truncatingIfNeeded: $0.integer(0))
    }
    try check(version: version.first ?? 0)
    // A trigger would be code of somebody else's that runs with every save.
    let found = try connection.run("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL") {
      $0.text(0)
    }
    // Before anything is believed: a damaged page may well look like one that has no such account.
    let check = try connection.run("PRAGMA integrity_check(1)") { $0.text(0) }
    guard found.compactMap(\.self).sorted() == tables, check == ["ok"] else {
      throw SQOAuthError(.storeDamaged, "it is damaged; it is left as it is")
    }
  }

  private static func check(version: UInt32) throws(SQOAuthError) {
    guard version <= Self.version else {
      throw SQOAuthError(
        .storeTooNew, "version \(version) of its format is newer than this program")
    }
    guard version == Self.version else {
      throw SQOAuthError(.storeDamaged, "it has no version; it is left as it is")
    }
  }

  private static func integer(in header: [UInt8], at offset: Int) -> UInt32 {
    header[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
  }
}
