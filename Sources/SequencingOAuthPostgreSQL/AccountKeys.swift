import SQBasics
import SQFoundation
import SequencingOAuth

/// This process's keys for the records of a database.
///
/// Each key has a number in the database, and each record contains the number of its key. The key
/// with the highest number encrypts new records.
final class AccountKeys: Sendable {
  /// A key's number and header.
  ///
  /// The number alone names no key: after a database was restored or created again, another key may
  /// get a number that this process knows.
  typealias Name = (number: Int64, header: Data)
  /// An opened key, with its number.
  typealias Opened = (number: Int64, sealer: RecordSealer)

  private struct State {
    /// The keys from the app; the first key is used for a new database.
    var given: [StoreKey]
    var sealers: [Int64: RecordSealer] = [:]
    /// Since when the tables that this process had opened are gone; `nil` if they are there.
    var tablesGoneSince: ContinuousClock.Instant?
    /// Since when the key is gone; `nil` if the database has one.
    ///
    /// Most calls succeed without a key, so their success does not end this time.
    var keyGoneSince: ContinuousClock.Instant?
  }

  private let statements: AccountStatements
  /// How long the tables or the key must be gone before this process creates them again.
  ///
  /// An operator may be restoring a backup. Tables that a host creates before those of the backup
  /// would get a new key, and could get the backup's records without the backup's key.
  private let patience: Duration
  private let state: Locked<State>
  /// Whether the tables were checked; the call that checks them holds the lock meanwhile.
  private let isOpen = Locked(false)

  init(_ keys: [StoreKey], _ statements: AccountStatements, patience: Duration) {
    self.statements = statements
    self.patience = patience
    state = Locked(State(given: keys))
  }

  /// Returns the newest key that this process has opened.
  func newest() throws(SQOAuthError) -> Opened {
    guard let newest = newest(before: .max) else {
      throw SQOAuthError(.storeFailed, "the token database: its key is not known yet; try again")
    }
    return newest
  }

  /// Returns the newest opened key with a number below `number`; `nil` if there is none.
  func newest(before number: Int64) -> Opened? {
    state.withLock { $0.sealers.filter { $0.key < number }.max { $0.key < $1.key } }
      .map { ($0.key, $0.value) }
  }

  /// Returns the key that this process last opened under a number; `nil` if there is none.
  func sealer(_ number: Int64) -> RecordSealer? { state.withLock { $0.sealers[number] } }

  /// Adds a key that may open records.
  func give(_ key: StoreKey) {
    state.withLock { $0.given.append(key) }
  }

  func note(_ number: Int64, _ sealer: RecordSealer) {
    state.withLock { $0.sealers[number] = sealer }
  }

  /// Forgets the keys with later numbers: the database no longer has them.
  func forget(after newest: Int64) {
    state.withLock { $0.sealers = $0.sealers.filter { $0.key <= newest } }
  }

  /// Opens a record key by its header in the database.
  ///
  /// It blocks the thread for up to a second for each passphrase that it tries.
  ///
  /// - Throws: If no key of this process opens the header, the error of the first key:
  ///   `wrongPassphrase`, or the reason why its key file cannot be read. Once this process has
  ///   opened a key, the error is always `wrongPassphrase`.
  @discardableResult
  func open(_ number: Int64, _ header: Data) throws(SQOAuthError) -> RecordSealer {
    var failure: SQOAuthError?
    let (given, hasOpened) = state.withLock { ($0.given, !$0.sealers.isEmpty) }
    for key in given {
      do throws(SQOAuthError) {
        let sealer = try RecordSealer(key, header: header)
        note(number, sealer)
        return sealer
      } catch {
        // The file of a key that was opened earlier may be gone. The error must then only say that
        // this process lacks the key for this header.
        let isLacking = hasOpened && (try? key.secret(makingFile: false)) == nil
        let code: SQOAuthError.Code = isLacking ? .wrongPassphrase : error.code
        // The first key's error is the most useful one.
        failure = failure ?? SQOAuthError(code, error.message, cause: error.cause)
      }
    }
    let reason = failure ?? SQOAuthError(.wrongPassphrase, "the store was given no key")
    throw SQOAuthError(
      reason.code, "the token database: \(reason.message)", cause: reason.cause)
  }

  // MARK: The tables

  /// Notes that a call succeeded, so the tables are there.
  func foundTables() {
    state.withLock { $0.tablesGoneSince = nil }
  }

  /// Notes that the database has a key.
  func foundKey() {
    state.withLock { $0.keyGoneSince = nil }
  }

  /// Throws if the tables, or the key, that this process had opened have not been gone for long.
  private func waitBeforeMaking(
    _ date: WritableKeyPath<State, ContinuousClock.Instant?>
  ) throws(SQOAuthError) {
    let since = state.withLock { state in
      let since = state[keyPath: date] ?? .now
      state[keyPath: date] = since
      return since
    }
    guard ContinuousClock.now < since + patience else { return }
    throw SQOAuthError(
      .storeFailed,
      "the token database: its tables or its keys are gone; the store creates new ones if they "
        + "are still gone after \(patience.components.seconds) s: restore the backup in one "
        + "transaction")
  }

  /// Checks the tables on the first connection, and creates what is missing; blocks the thread.
  ///
  /// If the tables must be changed, the time for that is added to the deadline. `again` is `true`
  /// after a call did not find the tables or keys that this process had opened.
  func open(
    _ schema: DatabaseSchema, _ connection: Connection, again: Bool = false,
    until deadline: ContinuousClock.Instant
  ) throws(SQOAuthError) {
    try isOpen.withLock { isOpen throws(SQOAuthError) in
      if isOpen, !again { return }
      // The wait for the lock may have been long, because another call upgraded the tables.
      var deadline = deadline
      guard ContinuousClock.now < deadline else { throw PostgreSQLError.late.reported }
      let hadTables = again ? try schema.exists(connection, until: deadline) : false
      if again, !hadTables { try waitBeforeMaking(\.tablesGoneSince) }
      try schema.open(connection, until: &deadline)
      var newest = try header(connection, until: deadline)
      if newest == nil, try hasValues(connection, until: deadline) {
        // Another host may have created the key, and saved a record, since it was read.
        newest = try header(connection, until: deadline)
        guard newest != nil else { throw AccountTable.lacksKey }
      }
      if let (number, header) = newest {
        if sealer(number)?.header != header { try open(number, header) }
      } else {
        if hadTables { try waitBeforeMaking(\.keyGoneSince) }
        try make(connection, until: deadline)
      }
      foundKey()
      isOpen = true
    }
  }

  /// Returns whether the database has records or registrations, which no new key could open.
  private func hasValues(
    _ connection: Connection, until deadline: ContinuousClock.Instant
  ) throws(SQOAuthError) -> Bool {
    try PostgreSQLError.reported { () throws(PostgreSQLError) in
      try connection.run(statements.keys.hasValues, [], until: deadline).first?.boolean(0) ?? false
    }
  }

  /// Creates the key of a new database.
  private func make(
    _ connection: Connection, until deadline: ContinuousClock.Instant
  ) throws(SQOAuthError) {
    guard let key = state.withLock(\.given.first) else { return }
    let new = try RecordSealer.make(key)
    try PostgreSQLError.reported { () throws(PostgreSQLError) in
      _ = try connection.run(statements.keys.addFirst, [.bytes(new.header)], until: deadline)
    }
    // Another host may have created a key at the same time.
    guard let (number, header) = try header(connection, until: deadline) else {
      throw SQOAuthError(
        .storeDamaged,
        "the token database's row for its encryption key could not be read again; try again")
    }
    if header == new.header { note(number, new) } else { try open(number, header) }
  }

  private func header(
    _ connection: Connection, until deadline: ContinuousClock.Instant
  ) throws(SQOAuthError) -> Name? {
    try PostgreSQLError.reported { () throws(PostgreSQLError) in
      let rows = try connection.run(statements.keys.newestHeader, [], until: deadline)
      return AccountTable.key(rows.first, 0)
    }
  }
}
