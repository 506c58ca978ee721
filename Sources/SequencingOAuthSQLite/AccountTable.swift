import SequencingOAuth

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The accounts in an open database; used by one thread at a time.
final class AccountTable {
  private let connection: Connection
  private let landings: Landings
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
    landings = Landings(store: file)
    try DatabaseFormat.check(header: try connection.header())
    // Before anything that may meet another process at work.
    connection.setBusyTimeout(busyTimeout)
    // The ids of 100,000 accounts stay in a cache of 8 MB, whatever records come through it.
    try connection.execute(
      """
      PRAGMA cache_size=-8000; PRAGMA temp_store=MEMORY;
      PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON
      """)
    try DatabaseFormat.check(connection)
    coding = try RecordCoding(key, header: try DatabaseFormat.header(connection))
    // What is damaged, or another's, is left as it is.
    try connection.beginWriting()
    try connection.keepLog()
  }

  /// Whether the file is no longer what its path leads to.
  var hasMoved: Bool { connection.hasMoved }

  /// The newest record of an account: the database's, or its successor that has landed beside it.
  func load(_ id: String) throws(SQOAuthError) -> AccountRecord? {
    guard let stored = try stored(id) else { return nil }
    return try landings.landed(after: stored, coding.sealer) ?? stored
  }

  private func stored(_ id: String) throws(SQOAuthError) -> AccountRecord? {
    try reading { () throws(SQOAuthError) in
      try connection.run("SELECT value FROM accounts WHERE id = ?1", .text(id)) {
        row throws(SQOAuthError) in try coding.decode(row.blob(0), id: id)
      }.first
    }
  }

  func save(_ record: AccountRecord) throws(SQOAuthError) {
    try put(record)
    if logHoldsErased { try emptyLog() }
    // What is left there does not count any more.
    try? landings.remove(record.id, coding.sealer)
  }

  /// Whether a record is safe beside the database, though it could not be saved there.
  func hasLanded(_ record: AccountRecord) -> Bool {
    guard let stored = try? stored(record.id) else { return false }
    return (try? landings.landed(after: stored, coding.sealer)) == record
  }

  /// Makes a landing file for the successor of a record, or finds out whether one could be made.
  ///
  /// The database's write lock is taken and let go: where a foreign program keeps it, the answer
  /// could not be saved.
  func reserve(
    _ id: String, replacing record: AccountRecord?, syncingOn queue: BlockingQueue
  ) throws(SQOAuthError) -> AccountReservation {
    var newest: AccountRecord?
    try connection.transaction { () throws(SQOAuthError) in
      guard record != nil, let stored = try stored(id) else { return }
      newest = stored
      // The landing file is about to be made anew, so what has landed goes into the database.
      guard let landed = try landings.landed(after: stored, coding.sealer) else { return }
      try put(landed)
      newest = landed
    }
    guard let newest else {
      try landings.check()
      return AccountReservation()
    }
    return try landings.reserve(after: newest, coding.sealer, syncingOn: queue)
  }

  private func put(_ record: AccountRecord) throws(SQOAuthError) {
    // A record under a key that is not the database's any more would be lost.
    try connection.run(
      """
      INSERT INTO accounts (id, value)
      SELECT ?1, ?2 WHERE (SELECT value FROM meta WHERE name = 'key') IS ?3
      ON CONFLICT (id) DO UPDATE SET value = excluded.value
      """, .text(record.id), .blob(try coding.encode(record)), .optional(coding.header)
    ) { _ in }
    guard connection.changes > 0 else { throw keyWasChanged }
  }

  func erase(_ id: String) throws(SQOAuthError) {
    // Before the record, so that no end of the process leaves a token of a user who signed out.
    try landings.remove(id, coding.sealer)
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
        let stored = try coding.decode(row.blob(1), id: try id(row))
        return try landings.landed(after: stored, coding.sealer) ?? stored
      }.sorted { $0.id < $1.id }
    }
  }

  /// Writes every record anew, and the header with them, or nothing.
  ///
  /// An account's lease is tried by a closure where a refresh may be under way.
  func changeKey(
    to key: StoreKey?, leasing lease: (String) throws(SQOAuthError) -> AccountLease?
  ) throws(SQOAuthError) {
    let (old, new) = (coding, try RecordCoding.make(key))
    try connection.transaction { () throws(SQOAuthError) in
      guard try DatabaseFormat.header(connection) == coding.header else { throw keyWasChanged }
      for id in try list() {
        if landings.has(id, old.sealer) {
          guard let lease = try lease(id) else { throw .isRefreshed(id) }
          lease.release()
        }
        guard let record = try load(id) else { continue }
        try connection.run(
          "UPDATE accounts SET value = ?2 WHERE id = ?1", .text(id), .blob(try new.encode(record))
        ) { _ in }
      }
      try DatabaseFormat.setHeader(new.header, connection)
    }
    coding = new
    for id in try list() { try landings.remove(id, old.sealer) }
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
