import SQBasics
import SQFoundation
import SequencingOAuth

// The keys that encrypt the records. They may change while hosts use the database.
extension AccountTable {
  /// Returns the object that encrypts and decrypts records with a key.
  ///
  /// - Throws: `wrongPassphrase` or `storeTooNew` if this process cannot use the key.
  func sealer(_ key: AccountKeys.Name) async throws(SQOAuthError) -> RecordSealer {
    if let sealer = keys.sealer(key.number), sealer.header == key.header { return sealer }
    let keys = keys
    return try await AccountDatabase.onThread { () throws(SQOAuthError) in
      try keys.open(key.number, key.header)
    }
  }

  /// Decrypts a value of the database with a closure that gets the key with the given number.
  ///
  /// If the key that this process knows does not fit, another key may have the number now, because
  /// the database was restored or created again. Then the closure runs again with that key.
  func opening<Value>(
    _ number: Int64, _ open: (RecordSealer) throws(SQOAuthError) -> Value
  ) async throws(SQOAuthError) -> Value {
    guard let known = keys.sealer(number) else { return try open(try await sealer(key(number))) }
    do throws(SQOAuthError) {
      return try open(known)
    } catch {
      guard error.code == .storeDamaged else { throw error }
      let present = try await key(number)
      guard present.header != known.header else { throw error }
      return try open(try await sealer(present))
    }
  }

  /// Reads the key that has a number now.
  func key(_ number: Int64) async throws(SQOAuthError) -> AccountKeys.Name {
    guard let header = try await header(number) else {
      throw SQOAuthError(
        .storeDamaged,
        "the token database: a record was encrypted with key \(number), and the table of keys has no "
          + "such row; restore this row from a backup")
    }
    return (number, header)
  }

  private func header(_ number: Int64) async throws(SQOAuthError) -> Data? {
    try await run(statements.keys.header, .integer(number)).first?.bytes(0)
  }

  /// Reads a key from two columns of a row, and notes that the database has a key.
  func presentKey(_ row: SQLRow?, _ column: Int) -> AccountKeys.Name? {
    let key = Self.key(row, column)
    if key != nil { keys.foundKey() }
    return key
  }

  /// Reads a key from two columns of a row, the number and then the header.
  static func key(_ row: SQLRow?, _ column: Int) -> AccountKeys.Name? {
    guard let number = row?.integer(column), let header = row?.bytes(column + 1) else { return nil }
    return (number, header)
  }

  /// Opens the newest key of the database.
  ///
  /// - Throws: `wrongPassphrase` or `storeTooNew` if this process cannot use the key.
  func openNewest(_ newest: AccountKeys.Name) async throws(SQOAuthError) -> AccountKeys.Opened {
    let sealer = try await sealer(newest)
    keys.forget(after: newest.number)
    return (newest.number, sealer)
  }

  /// Returns the key for the next attempt to save, after an attempt with a key that was too old.
  ///
  /// A process without the newest key continues with its own key, because its token would otherwise
  /// be lost. The other hosts can still read records of the older key, if the database has it.
  func nextKey(
    _ newest: AccountKeys.Name
  ) async throws(SQOAuthError) -> (key: AccountKeys.Opened, isOld: Bool) {
    do throws(SQOAuthError) {
      return (try await openNewest(newest), false)
    } catch {
      guard error.isOfAnothersKey else { throw error }
      var number = newest.number
      while let own = keys.newest(before: number) {
        // A database that was restored may have another key with this number.
        if try await header(own.number) == own.sealer.header { return (own, true) }
        number = own.number
      }
      throw error
    }
  }

  /// Saves with this process's newest key, and tries again if the database has a newer key.
  ///
  /// The closure gets the key, and whether it may save although the key is old. It returns the
  /// saved value (`nil` if it saved nothing) and the database's newest key.
  ///
  /// - Returns: The saved value; `nil` if nothing was saved although the key was not too old.
  @discardableResult
  func savingByNewestKey<Saved>(
    _ attempt: (AccountKeys.Opened, _ isOld: Bool) async throws(SQOAuthError)
      -> (saved: Saved?, newest: AccountKeys.Name?)
  ) async throws(SQOAuthError) -> Saved? {
    var (key, isOld) = (try keys.newest(), false)
    while true {
      let (saved, newest) = try await attempt(key, isOld)
      if saved != nil || isOld { return saved }
      guard let newest else { throw Self.lacksKey }
      if newest == (key.number, key.sealer.header) { return nil }
      (key, isOld) = try await nextKey(newest)
    }
  }

  // MARK: Changing the key

  /// Makes a key the newest key of the database, unless it already is; returns its number.
  ///
  /// When this method returns, only a host without the key may still save with an older key.
  func makeNewest(_ key: StoreKey) async throws(SQOAuthError) -> Int64 {
    let before = try await newestHeader()
    if try await opens(key, before) { return before.number }
    let sealer = try await AccountDatabase.onThread { () throws(SQOAuthError) in
      try RecordSealer.make(key)
    }
    try await run(script: statements.keys.add(sealer.header, after: before.number))
    let after = try await newestHeader()
    guard try await opens(key, after) else {
      throw SQOAuthError(
        .storeFailed,
        "the token database: another program changed its key at the same time; open the store with that "
          + "key and try again")
    }
    return after.number
  }

  private func newestHeader() async throws(SQOAuthError) -> AccountKeys.Name {
    let row = try await run(statements.keys.newestHeader).first
    guard let key = presentKey(row, 0) else { throw Self.lacksKey }
    return key
  }

  static let lacksKey = SQOAuthError(
    .storeDamaged,
    "the token database has no row for its encryption key; restore the database from a backup",
    cause: LackOfKey())

  /// Returns whether a key matches the newest header; if so, adds the key to ``keys``.
  private func opens(
    _ key: StoreKey, _ newest: AccountKeys.Name
  ) async throws(SQOAuthError) -> Bool {
    // If the key itself cannot be read, `RecordSealer.make` fails too and throws the reason.
    guard
      let sealer = try? await AccountDatabase.onThread({ () throws(SQOAuthError) in
        try RecordSealer(key, header: newest.header)
      })
    else { return false }
    keys.note(newest.number, sealer)
    keys.forget(after: newest.number)
    return true
  }

  /// The result of encrypting some records again.
  struct Resealed {
    /// The ID to continue from; `nil` if no records are left.
    var next: Data?
    /// The number of records that could not be opened.
    var damaged = 0
  }

  /// Encrypts records of older keys with a new key, in the order of their IDs, from `start` on.
  ///
  /// The version of a record stays the same, because its content does. A record of a later version
  /// of the SDK ends the call with `storeTooNew`.
  func reseal(
    from start: Data, to key: Int64, atMost count: Int
  ) async throws(SQOAuthError) -> Resealed {
    let sealer = try await sealer(self.key(key))
    let rows = try await run(
      statements.keys.old, .integer(key), .bytes(start), .integer(Int64(count)))
    var resealed = Resealed()
    var (ids, versions, values): ([Data], [Int64], [Data]) = ([], [], [])
    var (users, sessions): ([Data], [Data]) = ([], [])
    for row in rows {
      guard let bytes = row.bytes(0), let version = row.integer(1) else { throw Self.damaged }
      // The smallest ID after the ID of this record.
      resealed.next = bytes + [0]
      do throws(SQOAuthError) {
        let (id, box, number) = (try self.id(row), row.bytes(3), row.integer(2))
        let record = try await decode(box, key: number, id: id)
        let digests = try sealer.digests(of: record)
        guard let box, let number else { throw Self.damaged }
        // The JSON stays as it is, with what a later version of the SDK has added.
        let json = try await opening(number) { old throws(SQOAuthError) in
          try old.json(in: box, id: id)
        }
        values.append(try sealer.seal(json: json, id: id))
        users.append(digests.user)
        sessions.append(digests.session)
        ids.append(bytes)
        versions.append(version)
      } catch {
        guard error.code == .storeDamaged else { throw error }
        resealed.damaged += 1
      }
    }
    if !ids.isEmpty {
      try await run(
        statements.keys.reseal, .array(ids), .array(versions), .array(values), .integer(key),
        .array(users), .array(sessions), .bytes(sealer.header))
    }
    if rows.count < count { resealed.next = nil }
    return resealed
  }
}

/// The cause of ``AccountTable/lacksKey``.
private struct LackOfKey: Error {}

extension SQOAuthError {
  /// Whether a call did not find the tables or the keys, which this process may have opened.
  var lacksTables: Bool {
    cause is LackOfKey || (cause as? PostgreSQLError)?.lacksTables ?? false
  }

  /// Whether only other hosts can use a key: this process does not have it, or a later version of
  /// the SDK wrote its header.
  var isOfAnothersKey: Bool { code == .wrongPassphrase || code == .storeTooNew }
}
