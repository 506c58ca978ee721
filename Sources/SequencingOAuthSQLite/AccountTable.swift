import SequencingOAuth

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The accounts in an open database; used by one thread at a time.
final class AccountTable {
  private let connection: Connection
  private var coding: RecordCoding
  /// Whether the log may hold what was erased, since somebody was reading it.
  private var logHoldsErased = false

  /// Opens the database, which is made if it is not there.
  ///
  /// With a passphrase, this takes the time that its key takes.
  init(path: String, key: StoreKey?, busyTimeout: Duration) throws(SQOAuthError) {
    let file = try DatabaseFile(path: path).find { empty throws(SQOAuthError) in
      try DatabaseFormat.make(
        try Connection(empty), header: try RecordCoding.make(key).header)
    }
    connection = try Connection(file)
    try DatabaseFormat.check(header: try connection.header())
    // Before anything that may meet another process at work.
    connection.setBusyTimeout(busyTimeout)
    try connection.execute(
      "PRAGMA temp_store=MEMORY; PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON")
    try DatabaseFormat.check(connection)
    coding = try RecordCoding(key, header: try DatabaseFormat.header(connection))
    // What is damaged, or another's, is left as it is.
    try connection.beginWriting()
  }

  /// Whether the file is no longer what its path leads to.
  var hasMoved: Bool { connection.hasMoved }

  func load(_ id: String) throws(SQOAuthError) -> AccountRecord? {
    try reading { () throws(SQOAuthError) in
      try connection.run("SELECT value FROM accounts WHERE id = ?1", .text(id)) {
        row throws(SQOAuthError) in try coding.decode(row.blob(0), id: id)
      }.first
    }
  }

  func save(_ record: AccountRecord) throws(SQOAuthError) {
    // A record under a key that is not the database's any more would be lost.
    try connection.run(
      """
      INSERT INTO accounts (id, value)
      SELECT ?1, ?2 WHERE (SELECT value FROM meta WHERE name = 'key') IS ?3
      ON CONFLICT (id) DO UPDATE SET value = excluded.value
      """, .text(record.id), .blob(try coding.encode(record)), .optional(coding.header)
    ) { _ in }
    guard connection.changes > 0 else { throw keyWasChanged }
    if logHoldsErased { try emptyLog() }
  }

  func erase(_ id: String) throws(SQOAuthError) {
    try connection.run("DELETE FROM accounts WHERE id = ?1", .text(id)) { _ in }
    if connection.changes > 0 || logHoldsErased { try emptyLog() }
  }

  func list() throws(SQOAuthError) -> [String] {
    try connection.run("SELECT id FROM accounts") { row throws(SQOAuthError) in try id(row) }
      // SQLite compares bytes, which is another order where there are more than ASCII's.
      .sorted()
  }

  func all() throws(SQOAuthError) -> [AccountRecord] {
    try reading { () throws(SQOAuthError) in
      try connection.run("SELECT id, value FROM accounts") { row throws(SQOAuthError) in
        try coding.decode(row.blob(1), id: try id(row))
      }.sorted { $0.id < $1.id }
    }
  }

  /// Writes every record anew, and the header with them, or nothing.
  func changeKey(to key: StoreKey?) throws(SQOAuthError) {
    let new = try RecordCoding.make(key)
    try connection.transaction { () throws(SQOAuthError) in
      guard try DatabaseFormat.header(connection) == coding.header else { throw keyWasChanged }
      for id in try list() {
        guard let record = try load(id) else { continue }
        try connection.run(
          "UPDATE accounts SET value = ?2 WHERE id = ?1", .text(id), .blob(try new.encode(record))
        ) { _ in }
      }
      try DatabaseFormat.setHeader(new.header, connection)
    }
    coding = new
    try emptyLog()
  }

  private func emptyLog() throws(SQOAuthError) {
    logHoldsErased = try !connection.emptyLog()
  }

  /// Finds out whether what cannot be read was only written under another key.
  private func reading<Value>(
    _ body: () throws(SQOAuthError) -> Value
  ) throws(SQOAuthError) -> Value {
    do throws(SQOAuthError) {
      return try body()
    } catch {
      guard error.code == .storeDamaged, try DatabaseFormat.header(connection) != coding.header
      else { throw error }
      throw keyWasChanged
    }
  }

  private var keyWasChanged: SQOAuthError {
    SQOAuthError(.wrongPassphrase, "its key was changed by another process")
  }

  private func id(_ row: Statement) throws(SQOAuthError) -> String {
    guard let id = row.text(0) else {
      throw SQOAuthError(.storeDamaged, "an account's id is no text; it is left as it is")
    }
    return id
  }
}
