import SQBasics
import SequencingOAuth

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// The keys of the records, which may change while hosts use the database.
extension AccountTable {
  /// The sealer of the records that name a key.
  ///
  /// - Throws: `wrongPassphrase` if this process was not given the key.
  func sealer(_ number: Int64) async throws(SQOAuthError) -> RecordSealer {
    if let sealer = keys.sealer(number) { return sealer }
    guard
      let header = try await run(statements.keys.header, .integer(number)).first?.bytes(0)
    else {
      throw SQOAuthError(
        .storeDamaged, "the token database: a record names a key that does not exist")
    }
    let keys = keys
    return try await Self.onThread { () throws(SQOAuthError) in try keys.open(number, header) }
  }

  /// Runs what may take a large part of a second, as opening a key does.
  private static func onThread<Value: Sendable>(
    _ body: @escaping @Sendable () throws(SQOAuthError) -> Value
  ) async throws(SQOAuthError) -> Value {
    guard let result = await Threads.run({ Result { () throws(SQOAuthError) in try body() } })
    else {
      throw SQOAuthError(.storeFailed, "the system has no thread for the token database")
    }
    return try result.get()
  }

  /// The key to save with, when the database has a newer one than that of the last attempt.
  ///
  /// A process without the newer key keeps to its own, since its token would be lost otherwise; the
  /// others can open that too.
  func nextKey(
    _ newest: Int64
  ) async throws(SQOAuthError) -> (key: AccountKeys.Opened, isOld: Bool) {
    do throws(SQOAuthError) {
      return ((newest, try await sealer(newest)), false)
    } catch {
      guard error.code == .wrongPassphrase else { throw error }
      return (try keys.newest(), true)
    }
  }

  /// Saves by the newest key that this process knows, and by a newer one if the database has it.
  ///
  /// An attempt gets the key, and whether an old one may be used. It returns `nil` in place of what
  /// it saved if the key was too old, and the number of the newest key.
  func savingByNewestKey<Saved>(
    _ attempt: (AccountKeys.Opened, _ isOld: Bool) async throws(SQOAuthError)
      -> (saved: Saved?, newest: Int64?)
  ) async throws(SQOAuthError) -> Saved {
    var (key, isOld) = (try keys.newest(), false)
    while true {
      let (saved, newest) = try await attempt(key, isOld)
      if let saved { return saved }
      guard let newest, newest != key.number, !isOld else { throw Self.damaged }
      (key, isOld) = try await nextKey(newest)
    }
  }

  // MARK: Changing the key

  /// Makes a key the one for new records, unless it is; returns its number.
  ///
  /// When this returns, no save with an older key is under way.
  func makeNewest(_ key: StoreKey) async throws(SQOAuthError) -> Int64 {
    let before = try await newestHeader()
    if try await opens(key, before) { return before.number }
    let sealer = try await Self.onThread { () throws(SQOAuthError) in try RecordSealer.make(key) }
    try await run(script: statements.keys.add(sealer.header, after: before.number))
    let after = try await newestHeader()
    guard try await opens(key, after) else {
      throw SQOAuthError(
        .storeFailed, "the token database: another program has just changed its key too")
    }
    return after.number
  }

  private func newestHeader() async throws(SQOAuthError) -> (number: Int64, header: Data) {
    guard let row = try await run(statements.header).first, let number = row.integer(0),
      let header = row.bytes(1)
    else {
      throw SQOAuthError(.storeDamaged, "the token database: its key's header is gone")
    }
    return (number, header)
  }

  /// Whether a key is the one with a header; then it is noted.
  private func opens(
    _ key: StoreKey, _ header: (number: Int64, header: Data)
  ) async throws(SQOAuthError) -> Bool {
    // If the key cannot be read at all, making it the newest one fails too.
    guard
      let sealer = try? await Self.onThread({ () throws(SQOAuthError) in
        try RecordSealer(key, header: header.header)
      })
    else { return false }
    keys.note(header.number, sealer)
    return true
  }

  /// What was done with some records.
  struct Resealed {
    /// Where the next records begin; `nil` if there are none.
    var next: Data?
    /// How many records could not be opened.
    var damaged = 0
  }

  /// Seals records again that an older key has sealed, from an id on, in the order of their ids.
  ///
  /// A record's version stays, since its content does.
  func reseal(
    from start: Data, to key: Int64, atMost count: Int
  ) async throws(SQOAuthError) -> Resealed {
    let sealer = try await sealer(key)
    let rows = try await run(
      statements.keys.old, .integer(key), .bytes(start), .integer(Int64(count)))
    var resealed = Resealed()
    var (ids, versions, values): ([Data], [Int64], [Data]) = ([], [], [])
    var (users, sessions): ([Data], [Data]) = ([], [])
    for row in rows {
      guard let bytes = row.bytes(0), let version = row.integer(1) else { throw Self.damaged }
      // The next possible id.
      resealed.next = bytes + [0]
      do throws(SQOAuthError) {
        let record = try await decode(row.bytes(3), key: row.integer(2), id: id(row))
        let digests = try sealer.digests(of: record)
        values.append(try sealer.seal(record))
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
        .array(users), .array(sessions))
    }
    if rows.count < count { resealed.next = nil }
    return resealed
  }
}
