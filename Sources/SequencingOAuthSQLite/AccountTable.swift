import SequencingOAuth

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The accounts in an open database; used by one thread at a time.
final class AccountTable {
  private let connection: Connection
  private let path: String
  /// Whether the log may hold what was erased, since somebody was reading it.
  private var logHoldsErased = false

  /// Opens the database, which is made if it is not there.
  init(path: String, busyTimeout: Duration) throws(SQOAuthError) {
    let file = try DatabaseFile(path: path).find { empty throws(SQOAuthError) in
      try DatabaseFormat.make(try Connection(empty, calledBy: path))
    }
    connection = try Connection(file, calledBy: path)
    self.path = path
    try DatabaseFormat.check(header: try connection.header(), path: path)
    // Before anything that may meet another process at work.
    connection.setBusyTimeout(busyTimeout)
    try connection.execute(
      """
      PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA secure_delete=ON;
      PRAGMA temp_store=MEMORY; PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON
      """)
    try DatabaseFormat.check(connection, path: path)
  }

  /// Whether the file is no longer what its path leads to.
  var hasMoved: Bool { connection.hasMoved }

  func load(_ id: String) throws(SQOAuthError) -> AccountRecord? {
    try connection.run("SELECT value FROM accounts WHERE id = ?1", .text(id)) {
      row throws(SQOAuthError) in try decode(row.blob(0), id)
    }.first
  }

  func save(_ record: AccountRecord) throws(SQOAuthError) {
    try connection.run(
      """
      INSERT INTO accounts (id, value) VALUES (?1, ?2)
      ON CONFLICT (id) DO UPDATE SET value = excluded.value
      """, .text(record.id), .blob(try encode(record))
    ) { _ in }
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
    try connection.run("SELECT id, value FROM accounts") { row throws(SQOAuthError) in
      try decode(row.blob(1), try id(row))
    }.sorted { $0.id < $1.id }
  }

  private func emptyLog() throws(SQOAuthError) {
    logHoldsErased = try !connection.emptyLog()
  }

  // MARK: What a row holds

  private func id(_ row: Statement) throws(SQOAuthError) -> String {
    guard let id = row.text(0) else { throw damaged() }
    return id
  }

  private func encode(_ record: AccountRecord) throws(SQOAuthError) -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      return try encoder.encode(record)
    } catch {
      throw SQOAuthError(.storeFailed, "the tokens cannot be encoded", cause: error)
    }
  }

  private func decode(_ value: Data, _ id: String) throws(SQOAuthError) -> AccountRecord {
    guard let record = try? JSONDecoder().decode(AccountRecord.self, from: value), record.id == id
    else { throw damaged() }
    return record
  }

  private func damaged() -> SQOAuthError {
    SQOAuthError(
      .storeDamaged,
      "the token database \(ErrorResponse.clean(path)) is damaged, and is left as it is")
  }
}
