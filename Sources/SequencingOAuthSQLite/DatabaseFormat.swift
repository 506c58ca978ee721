import SequencingOAuth

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
  static func make(_ connection: Connection) throws(SQOAuthError) {
    // The file has no name yet that anybody knows, so it needs no safety before it is whole.
    try connection.execute("PRAGMA journal_mode=MEMORY; PRAGMA synchronous=OFF")
    try connection.transaction { () throws(SQOAuthError) in
      try connection.execute(
        "PRAGMA application_id=\(applicationID); PRAGMA user_version=\(version)")
      for table in tables { try connection.execute(table) }
    }
    // From here on; the file itself says so.
    try connection.execute("PRAGMA journal_mode=WAL")
  }

  /// Refuses a file that is not a token database of this version, before anything has touched it.
  static func check(header: [UInt8]?, path: String) throws(SQOAuthError) {
    let name = "the token database \(ErrorResponse.clean(path))"
    guard let header else {
      throw SQOAuthError(.storeDamaged, "\(name) is cut off, and is left as it is")
    }
    guard header.starts(with: Array("SQLite format 3\0".utf8)),
      integer(in: header, at: 68) == applicationID
    else {
      throw SQOAuthError(
        .storeFailed, "\(name) is not one: another program's file, or damaged; it is left as it is")
    }
    let version = integer(in: header, at: 60)
    guard version <= Self.version else { throw tooNew(version, name) }
  }

  /// Refuses tables that this version does not make, and content that contradicts itself.
  static func check(_ connection: Connection, path: String) throws(SQOAuthError) {
    let name = "the token database \(ErrorResponse.clean(path))"
    // Also in the log, which the header does not have.
    let version = try connection.run("PRAGMA user_version") {
      UInt32(truncatingIfNeeded: $0.integer(0))
    }.first
    if let version, version > Self.version { throw tooNew(version, name) }
    // A trigger would be code of somebody else's that runs with every save.
    let found = try connection.run("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL") {
      $0.text(0)
    }
    // Before anything is believed: a damaged page may well look like one that has no such account.
    let check = try connection.run("PRAGMA integrity_check(1)") { $0.text(0) }
    guard version == Self.version, found.compactMap(\.self).sorted() == tables, check == ["ok"]
    else {
      throw SQOAuthError(.storeDamaged, "\(name) is damaged, and is left as it is")
    }
  }

  private static func tooNew(_ version: UInt32, _ name: String) -> SQOAuthError {
    SQOAuthError(
      .storeTooNew, "version \(version) of the format of \(name) is newer than this program")
  }

  private static func integer(in header: [UInt8], at offset: Int) -> UInt32 {
    header[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
  }
}
