import SQBasics
import SQFoundation
import SequencingOAuth

/// The accounts in an open database, used by one thread at a time.
final class AccountTable {
  let connection: Connection
  let writeAheadCopies: WriteAheadCopies
  private(set) var coding: RecordCoding
  /// Whether the log may still contain erased records, because it was not emptied.
  ///
  /// At first this is not known: a process may have been killed after an erasure or a change of the
  /// key, before it emptied the log.
  private(set) var logHoldsErased = true

  /// How often an erasure tries to empty the log while other processes use it.
  private static let emptyingAttempts = 10

  /// How many one-time values a use looks at in each of two places, to remove those that expired.
  static let sweptValues: Int64 = 20

  /// Opens the database, and creates it if it is missing.
  ///
  /// If the key comes from a passphrase, deriving it takes a large part of a second. The statements
  /// of this call and the next ones wait until `end` for another process that writes.
  init(
    path: String, key: StoreKey?, waitingUntil end: ContinuousClock.Instant
  ) throws(SQOAuthError) {
    let databaseFile = DatabaseFile(path: path)
    let file = try databaseFile.find { empty throws(SQOAuthError) in
      try DatabaseFormat.make(
        try Connection(empty), header: try RecordCoding.make(key).header)
    }
    connection = try Connection(file)
    writeAheadCopies = WriteAheadCopies(store: file)
    try DatabaseFormat.check(header: try connection.header())
    // Do this before the first statement, because SQLite gives its log the mode of the database.
    try databaseFile.keepToOwner(file)
    // Set before the first statement that may have to wait for another process.
    connection.waitForWriters(until: end)
    // A cache of 8 MB keeps the IDs of 100,000 accounts, even while records pass through it.
    try connection.execute(
      """
      PRAGMA cache_size=-8000; PRAGMA temp_store=MEMORY;
      PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON
      """)
    try DatabaseFormat.check(connection)
    coding = try RecordCoding(key, header: try DatabaseFormat.header(connection))
    // Nothing is written before this line, so that a damaged or foreign database stays unchanged.
    try connection.beginWriting()
    try DatabaseFormat.upgrade(connection) { () throws(SQOAuthError) in try noteDigests() }
    try connection.keepLog()
  }

  /// Whether the database's path no longer leads to the open file.
  var hasMoved: Bool { connection.hasMoved }

  /// Loads the newest record of an account, from the database or from a newer write-ahead copy.
  func load(_ id: String) throws(SQOAuthError) -> AccountRecord? {
    guard let stored = try stored(id) else { return nil }
    return try writeAheadCopies.copy(after: stored, coding.sealer) ?? stored
  }

  func stored(_ id: String) throws(SQOAuthError) -> AccountRecord? {
    try reading { () throws(SQOAuthError) in
      try value(id).map { value throws(SQOAuthError) in try coding.decode(value, id: id) }
    }
  }

  private func value(_ id: String) throws(SQOAuthError) -> Data? {
    try connection.run("SELECT value FROM accounts WHERE id = ?1", .text(id)) { $0.blob(0) }.first
  }

  func save(_ record: AccountRecord) throws(SQOAuthError) {
    try put(record)
    emptyLogAgain()
    // The write-ahead copy is now outdated, so a failure to remove it does no harm.
    try? writeAheadCopies.remove(record.id, coding.sealer)
  }

  func put(_ record: AccountRecord) throws(SQOAuthError) {
    // Save only with the database's current key. A record with an older key could not be read
    // again.
    let isCurrentKey = "(SELECT value FROM meta WHERE name = 'key') IS ?3"
    let digests = try coding.digests(of: record)
    let values: [Value] = [
      .text(record.id), .blob(try coding.encode(record)), .optional(coding.header),
      .blob(digests.user), .blob(digests.session),
    ]
    // A refresh changes neither the user nor the session, so the indexes stay as they are.
    try connection.run(
      """
      UPDATE accounts SET value = ?2
      WHERE id = ?1 AND user IS ?4 AND session IS ?5 AND \(isCurrentKey)
      """, values
    ) { _ in }
    if connection.changes > 0 { return }
    try connection.run(
      """
      INSERT INTO accounts (id, value, user, session) SELECT ?1, ?2, ?4, ?5 WHERE \(isCurrentKey)
      ON CONFLICT (id) DO UPDATE SET value = excluded.value, user = excluded.user,
        session = excluded.session
      """, values
    ) { _ in }
    guard connection.changes > 0 else { throw keyWasChanged }
  }

  func erase(_ id: String) throws(SQOAuthError) {
    // Remove the write-ahead copy before the record. In the other order, a process that ends in
    // between would leave a token of a user who signed out.
    try writeAheadCopies.remove(id, coding.sealer)
    try connection.run("DELETE FROM accounts WHERE id = ?1", .text(id)) { _ in }
    // An earlier call may have erased the record and failed to empty the log.
    try emptyLog()
  }

  /// Records the use of a one-time value; returns `false` if it was used before.
  ///
  /// Both times are in whole seconds since 1970. Of the values that expired more than an hour ago,
  /// this removes those that are near the new value or at the beginning of the table.
  ///
  /// There may be very many values, because anyone who sends requests to a server can add some. So a
  /// use looks at a few values only, and does not keep other processes from writing for long. The
  /// SDK's values are digests, so the neighbours are different ones each time; the beginning is for
  /// an app's values that only grow.
  func use(_ value: String, until end: Int64, now: Int64) throws(SQOAuthError) -> Bool {
    try connection.transaction { () throws(SQOAuthError) in
      try connection.run(
        """
        DELETE FROM used WHERE until < ?1 AND value IN (
          SELECT * FROM (SELECT value FROM used WHERE value >= ?2 ORDER BY value LIMIT ?3)
          UNION ALL SELECT * FROM (SELECT value FROM used ORDER BY value LIMIT ?3))
        """, .integer(now - 3600), .text(value), .integer(Self.sweptValues)
      ) { _ in }
      try connection.run(
        "INSERT INTO used (value, until) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
        .text(value), .integer(end)
      ) { _ in }
      return connection.changes > 0
    }
  }

  /// Returns whether a one-time value was used.
  func wasUsed(_ value: String) throws(SQOAuthError) -> Bool {
    try !connection.run("SELECT 1 FROM used WHERE value = ?1", .text(value)) { _ in }.isEmpty
  }

  func list() throws(SQOAuthError) -> [String] {
    try connection.run("SELECT id FROM accounts ORDER BY id") { row throws(SQOAuthError) in
      try id(row)
    }
  }

  /// Loads a page of accounts, including unreadable records.
  func entries(after key: Data?, limit: Int) throws(SQOAuthError) -> [AccountEntry] {
    let entries = try rows(after: key, limit: limit) { row throws(SQOAuthError) in
      AccountEntry(
        key: row.blob(0), record: Result { () throws(SQOAuthError) in try record(row) })
    }
    // If another process changed the key, no record can be read.
    if entries.contains(where: { $0.record.error != nil }),
      try DatabaseFormat.header(connection) != coding.header
    {
      throw keyWasChanged
    }
    return entries
  }

  private func rows<Found>(
    after key: Data?, limit: Int, _ read: (Statement) throws(SQOAuthError) -> Found
  ) throws(SQOAuthError) -> [Found] {
    let order = key == nil ? ">=" : ">"
    return try connection.run(
      "SELECT id, value FROM accounts WHERE id \(order) CAST(?1 AS TEXT) ORDER BY id LIMIT ?2",
      .blob(key ?? Data()), .integer(Int64(max(0, limit))), read: read)
  }

  /// Returns the newest record of a row's account, from the row or its write-ahead copy.
  func record(_ row: Statement) throws(SQOAuthError) -> AccountRecord {
    let stored = try coding.decode(row.blob(1), id: try id(row))
    return try writeAheadCopies.copy(after: stored, coding.sealer) ?? stored
  }

  /// Encrypts all records, all registrations and the header with another key, or changes nothing.
  ///
  /// The closure tries to take an account's lease and returns `nil` while a refresh holds it.
  func changeKey(
    to key: StoreKey?, leasing lease: (String) throws(SQOAuthError) -> AccountLease?
  ) throws(SQOAuthError) {
    let new = try RecordCoding.make(key)
    try connection.transaction { () throws(SQOAuthError) in
      guard try DatabaseFormat.header(connection) == coding.header else { throw keyWasChanged }
      for id in try list() {
        if try writeAheadCopies.has(id, coding.sealer) {
          guard let lease = try lease(id) else { throw .isRefreshed(id) }
          lease.release()
        }
        guard let value = try self.value(id) else { continue }
        let stored = try coding.decode(value, id: id)
        let copy = try writeAheadCopies.copy(after: stored, coding.sealer)
        // The JSON stays as it is, with what a later version of the SDK has added.
        let json =
          if let copy { try copy.json() } else { try coding.content(of: value, id: id).json }
        let digests = try new.digests(of: copy ?? stored)
        try connection.run(
          "UPDATE accounts SET value = ?2, user = ?3, session = ?4 WHERE id = ?1", .text(id),
          .blob(try new.encode(json: json, id: id)), .blob(digests.user), .blob(digests.session)
        ) { _ in }
      }
      try recodeRegistrations(to: new)
      try DatabaseFormat.setHeader(new.header, connection)
    }
    coding = new
    // The key has been changed, so a failure of this last step must not make the call throw.
    try? removeTracesOfOldKey()
  }

  /// Removes what the old key can still read: write-ahead copies, and the records in the log.
  ///
  /// The pages of the database file itself have no old text after that, because SQLite overwrites
  /// what it frees (`secure_delete`).
  func removeTracesOfOldKey() throws(SQOAuthError) {
    // A copy that cannot be removed must not keep the log from being emptied.
    try? removeOldWriteAheadCopies()
    try emptyLog()
  }

  private func removeOldWriteAheadCopies() throws(SQOAuthError) {
    let names = writeAheadCopies.names
    let ids = try list()
    // If another process has changed the key again, a refresh under that key may use some copies.
    guard try DatabaseFormat.header(connection) == coding.header else { throw keyWasChanged }
    try writeAheadCopies.remove(names, exceptOf: ids, coding.sealer)
  }

  /// Empties the log into the database; if another process keeps using the log, ``logHoldsErased``
  /// stays `true`.
  func emptyLog(attempts: Int = emptyingAttempts) throws(SQOAuthError) {
    logHoldsErased = true
    logHoldsErased = try !connection.emptyLog(attempts: attempts)
  }

  /// Empties the log if it may still contain erased records.
  ///
  /// The caller's change is already saved, so a failure is no error; the next change tries again.
  func emptyLogAgain() {
    if logHoldsErased { try? emptyLog(attempts: 1) }
  }

  /// Runs a body; throws `wrongPassphrase` if a record cannot be read because the key was changed.
  func reading<Value>(
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

  var keyWasChanged: SQOAuthError {
    SQOAuthError(.wrongPassphrase, "another process changed its key; open it with the new one")
  }

  private func id(_ row: Statement) throws(SQOAuthError) -> String {
    guard let id = row.text(0) else {
      throw SQOAuthError(
        .storeDamaged,
        "another program wrote an account whose id is not text; nothing was changed: "
          + "remove its row")
    }
    return id
  }
}
