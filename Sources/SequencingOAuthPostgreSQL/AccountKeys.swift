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
  }

  private let statements: AccountStatements
  private let state: Locked<State>
  /// Whether the tables were checked; the call that checks them holds the lock meanwhile.
  private let isOpen = Locked(false)

  init(_ keys: [StoreKey], _ statements: AccountStatements) {
    self.statements = statements
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

  // MARK: The first connection

  /// Checks the tables on the first connection, and creates what is missing; blocks the thread.
  ///
  /// If the tables must be changed, the time for that is added to the deadline.
  func open(
    _ schema: DatabaseSchema, _ connection: Connection, until deadline: ContinuousClock.Instant
  ) throws(SQOAuthError) {
    try isOpen.withLock { isOpen throws(SQOAuthError) in
      if isOpen { return }
      // The wait for the lock may have been long, because another call upgraded the tables.
      var deadline = deadline
      guard ContinuousClock.now < deadline else { throw PostgreSQLError.late.reported }
      try schema.open(connection, until: &deadline)
      if let (number, header) = try header(connection, until: deadline) {
        try open(number, header)
      } else {
        try make(connection, until: deadline)
      }
      isOpen = true
    }
  }

  /// Creates the key of a new database.
  private func make(
    _ connection: Connection, until deadline: ContinuousClock.Instant
  ) throws(SQOAuthError) {
    guard let key = state.withLock(\.given.first) else { return }
    let new = try RecordSealer.make(key)
    do throws(PostgreSQLError) {
      _ = try connection.run(statements.addHeader, [.bytes(new.header)], until: deadline)
    } catch {
      throw error.reported
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
    do throws(PostgreSQLError) {
      let row = try connection.run(statements.header, [], until: deadline).first
      guard let row, let number = row.integer(0), let header = row.bytes(1) else { return nil }
      return (number, header)
    } catch {
      throw error.reported
    }
  }
}
