import SQBasics
import SQFoundation
import SequencingOAuth

/// The accounts in the database, for one call on one connection.
struct AccountTable {
  let connection: Connection
  let keys: AccountKeys
  let statements: AccountStatements
  var deadline: ContinuousClock.Instant

  // MARK: Records

  /// Loads an account's record and the version of its row.
  func load(_ id: String) async throws(SQOAuthError) -> HeldLeases.Row? {
    guard let row = try await run(statements.load, .id(id)).first else { return nil }
    guard let version = row.integer(0) else { throw Self.damaged }
    let record = try await decode(row.bytes(1), key: row.integer(2), id: id)
    return HeldLeases.Row(version: version, record: record)
  }

  /// Saves a record, replacing the account's earlier record; returns the row's new version.
  ///
  /// By the random ID `ticket`, a repeated statement recognizes that it was already carried out.
  /// Returns `nil` if it was, and another host has changed the account since then.
  func put(_ record: AccountRecord, ticket: Data) async throws(SQOAuthError) -> Int64? {
    let version: Int64? = try await savingByNewestKey { key, isOld throws(SQOAuthError) in
      let sealed = try SealedRecord(record, by: key, isRenewed: false)
      let row = try await run(
        statements.put, .id(sealed.id), .bytes(sealed.box), .bytes(sealed.server),
        .seconds(sealed.due), .integer(sealed.key.number), .boolean(isOld),
        .bytes(sealed.digests.user), .bytes(sealed.digests.session), .bytes(ticket),
        .bytes(sealed.key.header)
      ).first
      return (row?.integer(0), presentKey(row, 1))
    }
    if let version { return version }
    return try await self.version(of: record)
  }

  /// Saves a record if the account's row still has the given version; otherwise returns `false`.
  ///
  /// It throws `storeDamaged` if the table of keys is empty.
  ///
  /// `sealed` is the encrypted record that an earlier attempt sent. A repeated statement recognizes
  /// its own change by these bytes.
  func replace(
    version: Int64, _ record: AccountRecord, sealed: inout SealedRecord?, ticket: Data
  ) async throws(SQOAuthError) -> Bool {
    var isOld = false
    while true {
      let next =
        if let sealed {
          sealed
        } else {
          try SealedRecord(record, by: try keys.newest(), isRenewed: true)
        }
      sealed = next
      let row = try await run(
        statements.replace, .id(next.id), .integer(version), .bytes(next.box),
        .bytes(ticket), .bytes(next.server), .seconds(next.due), .integer(next.key.number),
        .boolean(isOld), .bytes(next.digests.user), .bytes(next.digests.session),
        .bytes(next.key.header)
      ).first
      if row?.integer(0) != nil { return true }
      let newest = presentKey(row, 1)
      guard let newest, newest != next.key, !isOld else {
        // An earlier attempt may have saved the record, and a key change may have encrypted it
        // again since then.
        if try await self.version(of: record) == version + 1 { return true }
        // The version may be right, so the save can succeed when the table of keys is restored.
        if newest == nil, !isOld { throw Self.lacksKey }
        return false
      }
      let (key, isOldKey) = try await nextKey(newest)
      isOld = isOldKey
      sealed = try SealedRecord(record, by: key, isRenewed: true)
    }
  }

  /// Returns the version of an account's row; `nil` if the row does not contain a given record.
  private func version(of record: AccountRecord) async throws(SQOAuthError) -> Int64? {
    try await version(of: record.id) { $0 == record }
  }

  /// Returns the version of an account's row if a given record resulted from its record by
  /// refreshes.
  func ancestor(of record: AccountRecord) async throws(SQOAuthError) -> Int64? {
    try await version(of: record.id) { $0.isAncestor(of: record) }
  }

  private func version(
    of id: String, if isWanted: (AccountRecord) -> Bool
  ) async throws(SQOAuthError) -> Int64? {
    do throws(SQOAuthError) {
      guard let row = try await load(id), isWanted(row.record) else { return nil }
      return row.version
    } catch {
      // Another process saved a record that this one cannot open.
      guard error.concernsOneRecord else { throw error }
      return nil
    }
  }

  /// Erases an account, unless an earlier attempt with the same random ID `ticket` has done so.
  func erase(_ id: String, ticket: Data) async throws(SQOAuthError) {
    try await run(statements.erase, .id(id), .bytes(ticket))
  }

  /// Erases an account if a list contains its token; returns `false` if its token is different.
  func erase(_ id: String, ifTokenIsIn tokens: [SQToken]) async throws(SQOAuthError) -> Bool {
    while let row = try await load(id) {
      guard tokens.contains(where: { $0.isSame(as: row.record.token) }) else { return false }
      let erased = try await run(
        statements.eraseVersion, .id(id), .integer(row.version))
      if !erased.isEmpty { return true }
    }
    return true
  }

  func list() async throws(SQOAuthError) -> [String] {
    var ids: [String] = []
    for row in try await run(statements.ids) { ids.append(try id(row)) }
    return ids.inByteOrder()
  }

  /// Loads a page of accounts, including unreadable records.
  func entries(after key: Data?, atMost count: Int) async throws(SQOAuthError) -> [AccountEntry] {
    try await entries(rows(after: key, atMost: count))
  }

  /// Returns the accounts of rows with the columns ID, value and key number.
  func entries(_ rows: [SQLRow]) async throws(SQOAuthError) -> [AccountEntry] {
    var entries: [AccountEntry] = []
    for row in rows {
      guard let key = row.bytes(0) else { throw Self.damaged }
      entries.append(AccountEntry(key: key, record: try await result(row)))
    }
    return entries
  }

  private func rows(after key: Data?, atMost count: Int) async throws(SQOAuthError) -> [SQLRow] {
    let count = SQLValue.integer(Int64(max(0, count)))
    guard let key else { return try await run(statements.firstPage, count) }
    return try await run(statements.page, .bytes(key), count)
  }

  /// Returns the record of a row with the columns ID, value and key number.
  func record(_ row: SQLRow) async throws(SQOAuthError) -> AccountRecord {
    try await decode(row.bytes(1), key: row.integer(2), id: try id(row))
  }

  /// Returns the record of a row, or the reason why it cannot be read.
  ///
  /// A record cannot be read if it is damaged, or if only other hosts have its key.
  func result(_ row: SQLRow) async throws(SQOAuthError) -> Result<AccountRecord, SQOAuthError> {
    do throws(SQOAuthError) {
      return .success(try await record(row))
    } catch {
      guard error.concernsOneRecord else { throw error }
      return .failure(error)
    }
  }

  // MARK: Notices and rights

  /// Sends a notice of changes to the other hosts.
  func announce(_ notice: Notice) async throws(SQOAuthError) {
    let notices = statements.notices
    try await run(notices.announce, .text(notices.channel), .text(notice.text))
  }

  /// Throws if the server is read-only or the role lacks the rights to save a record.
  func checkWriting() async throws(SQOAuthError) {
    try await checkWriting(by: statements.canWrite)
  }

  /// Throws if the result of a statement about the role's rights is not true.
  func checkWriting(by statement: SQLStatement) async throws(SQOAuthError) {
    guard try await run(statement).first?.boolean(0) == true else {
      throw SQOAuthError(
        .storeFailed,
        "the token database: the server is read-only, or the store's database role has no right to "
          + "save; name the primary server in the connection string, or grant the role the rights that "
          + "the documentation lists")
    }
  }

  // MARK: One-time values

  /// Records the use of a one-time value; returns `false` if another call used it before.
  func use(_ value: String, ticket: Data, for time: Double) async throws(SQOAuthError) -> Bool {
    try await !run(
      statements.usedValues.use, .bytes(Data(value.utf8)), .bytes(ticket), .seconds(time)
    ).isEmpty
  }

  func wasUsed(_ value: String) async throws(SQOAuthError) -> Bool {
    try await !run(statements.usedValues.wasUsed, .bytes(Data(value.utf8))).isEmpty
  }

  // MARK: Rows

  @discardableResult
  func run(
    _ statement: SQLStatement, _ values: SQLValue...
  ) async throws(SQOAuthError) -> [SQLRow] {
    do throws(PostgreSQLError) {
      return try await connection.answer(statement, values, until: deadline)
    } catch {
      throw error.reported
    }
  }

  /// Runs several statements without values in one transaction.
  func run(script: String) async throws(SQOAuthError) {
    do throws(PostgreSQLError) {
      try await connection.answer(script: script, until: deadline)
    } catch {
      throw error.reported
    }
  }

  func id(_ row: SQLRow) throws(SQOAuthError) -> String {
    guard let bytes = row.bytes(0), let id = String(validating: bytes, as: UTF8.self) else {
      throw SQOAuthError(
        .storeDamaged,
        "the token database: another program wrote an account whose id is not text; nothing was "
          + "changed: remove its row")
    }
    return id
  }

  func decode(
    _ value: Data?, key: Int64?, id: String
  ) async throws(SQOAuthError) -> AccountRecord {
    guard let value, let key else { throw Self.damaged }
    return try await opening(key) { sealer throws(SQOAuthError) in
      do throws(SQOAuthError) {
        let record = try sealer.open(value, id: id)
        guard record.id == id else { throw Self.damaged }
        return record
      } catch {
        // Any other error may mean that this process can read no records at all.
        throw error.code == .storeDamaged ? Self.damaged : error
      }
    }
  }

  static let damaged = SQOAuthError(
    .storeDamaged,
    "the token database: another program edited a record; nothing was changed: restore the record, "
      + "or erase its account and sign in again")
}
