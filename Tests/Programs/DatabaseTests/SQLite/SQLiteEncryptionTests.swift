import Foundation
import ProgramSupport
import SQBasics
import SequencingOAuth
import TestSupport
import Testing

@testable import SequencingOAuthSQLite

/// SQLite databases with sealed records.
@Suite struct SQLiteEncryptionTests {
  @Test func `the files contain no readable part of a record except the account's id`() async throws
  {
    let files = try SQLiteFolder()
    let store = files.store(SQLiteFolder.key)
    try await store.save(record("alice", token: SQToken(accessToken: "s3cr3t")))
    #expect(try files.files(with: "s3cr3t") == [])
    #expect(try files.files(with: "id.example") == [])
    #expect(try files.files(with: "alice") != [])
  }

  @Test func `the same record is written as different bytes each time`() async throws {
    let files = try SQLiteFolder()
    let store = files.store(SQLiteFolder.key)
    var boxes: Set<String> = []
    for _ in 0..<10 {
      try await store.save(record("a"))
      boxes.insert(try await files.sql("SELECT hex(value) FROM accounts"))
    }
    #expect(boxes.count == 10)
  }

  @Test(arguments: [[], [record("a")]])
  func `a wrong passphrase is rejected and changes nothing`(records: [AccountRecord]) async throws {
    let files = try SQLiteFolder()
    try await files.fill(records, key: .quickPassphrase("right"))
    let before = try files.bytes()
    let wrong = files.store(.quickPassphrase("wrong"))
    await failure(.wrongPassphrase) { try await wrong.list() }
    await failure(.wrongPassphrase) { try await wrong.load("a") }
    await failure(.wrongPassphrase) { try await wrong.save(record("b")) }
    await failure(.wrongPassphrase) { try await wrong.erase("a") }
    #expect(try files.bytes() == before)
    #expect(try await files.store(.quickPassphrase("right")).all() == records)
  }

  @Test func `a store with a key and a store without a key reject each other's files`() async throws
  {
    let sealed = try SQLiteFolder()
    try await sealed.fill([record("a")], key: SQLiteFolder.key)
    await failure(.wrongPassphrase) { try await sealed.store().load("a") }
    await failure(.wrongPassphrase) { try await sealed.store().save(record("a")) }
    let clear = try SQLiteFolder()
    try await clear.fill([record("a")])
    await failure(.wrongPassphrase) { try await clear.store(SQLiteFolder.key).load("a") }
    await failure(.wrongPassphrase) {
      try await clear.store(SQLiteFolder.key).save(record("a"))
    }
  }

  @Test func `a record that was moved to another account is reported as damaged`() async throws {
    let files = try SQLiteFolder()
    try await files.fill([record("a"), record("b")], key: SQLiteFolder.key)
    try await files.sql(
      "UPDATE accounts SET value=(SELECT value FROM accounts WHERE id='a') WHERE id='b'")
    let store = files.store(SQLiteFolder.key)
    await failure(.storeDamaged) { try await store.load("b") }
    #expect(try await store.load("a") == record("a"))
  }

  @Test(arguments: [nil, SQLiteFolder.key], [nil, SQLiteFolder.otherKey])
  func `after a change to a new key, the database and its log contain no old values`(
    old: StoreKey?, new: StoreKey?
  ) async throws {
    let files = try SQLiteFolder()
    let store = files.store(old)
    let records = (0..<20).map { record("\($0)") }.sorted { $0.id < $1.id }
    for record in records { try await store.save(record) }
    let values = try await files.sql("SELECT hex(substr(value, 1, 40)) FROM accounts")
      .split(separator: "\n").map { digits in try #require(Data(hexadecimal: digits)) }
    #expect(values.count == records.count)
    let before = try await Self.copy(files)
    for value in values { #expect(before.range(of: value) != nil) }
    try await store.changeKey(to: new)
    #expect(try await store.all() == records)
    try await store.save(record("more"))
    #expect(try await files.store(new).all() == records + [record("more")])
    if (old == nil) != (new == nil) {
      await failure(.wrongPassphrase) { try await files.store(old).list() }
    }
    guard new != nil else { return }
    let content = try files.bytes() + files.bytes("-wal")
    for value in values { #expect(content.range(of: value) == nil) }
  }

  /// Returns the content of the database and its log, which another process copies.
  ///
  /// If this process read the files, it would lose the store's locks. The log is copied first,
  /// because its content may move to the database.
  private static func copy(_ files: SQLiteFolder) async throws -> Data {
    let copies = try TemporaryFolder()
    let result = try await ChildProcess.run(["cp", files.path + "-wal", files.path, copies.path])
    try #require(result.status == 0, "\(result.errors)")
    return try copies.bytes("tokens.sqlite-wal") + copies.bytes("tokens.sqlite")
  }

  @Test func `after a change of the key, a process with the old key can neither read nor write`()
    async throws
  {
    let files = try SQLiteFolder()
    let old = files.store(SQLiteFolder.key)
    try await old.save(record("a"))
    try await files.store(SQLiteFolder.key).changeKey(to: SQLiteFolder.otherKey)
    await failure(.wrongPassphrase) { try await old.save(record("a")) }
    let reader = files.store(SQLiteFolder.otherKey)
    #expect(try await reader.load("a") == record("a"))
    try await reader.changeKey(to: SQLiteFolder.key)
    #expect(try await old.load("a") == record("a"))
    try await files.store(SQLiteFolder.key).changeKey(to: nil)
    await failure(.wrongPassphrase) { try await old.load("a") }
    await failure(.wrongPassphrase) { try await reader.changeKey(to: SQLiteFolder.key) }
  }

  /// A process may be paused between its change of the key and this last step.
  @Test func `a write-ahead copy for a key that another process has set meanwhile stays`()
    async throws
  {
    let files = try SQLiteFolder()
    try await files.fill([record("a")], key: SQLiteFolder.key)
    let table = try AccountTable(
      path: files.path, key: SQLiteFolder.key, waitingUntil: .now + .seconds(30))
    let other = files.store(SQLiteFolder.key)
    try await other.changeKey(to: .quickPassphrase("newest"))
    let reservation = try await other.reserve("a", replacing: record("a"))
    let copies = try files.names().filter { $0.contains(".landing-") }
    try table.removeTracesOfOldKey()
    #expect(try copies.count == 1 && files.names().contains(copies[0]))
    reservation.release()
  }

  /// A program may run again after it was interrupted.
  @Test func `a repeated change of the key is no error`() async throws {
    let files = try SQLiteFolder()
    try await files.fill([record("a")], key: SQLiteFolder.key)
    for _ in 1...2 {
      let store = files.store(SQLiteFolder.key)
      try await store.changeKey(to: SQLiteFolder.otherKey)
      try await store.save(record("b"))
      #expect(try await store.load("a") == record("a"))
    }
    #expect(try await files.store(SQLiteFolder.otherKey).list() == ["a", "b"])
  }

  /// The database cannot grow, as on a full disk, but its log can.
  ///
  /// A limit on the size of files is for a whole process, so the test runs in its own process.
  @Test(.ownThreads, .timeLimit(.minutes(2)))
  func `if the log cannot be emptied, saves and a change of the key succeed but an erasure fails`()
    async throws
  {
    await #expect(processExitsWith: .success) {
      // Without this, a write beyond the limit would end the process.
      signal(SIGXFSZ, SIG_IGN)
      let files = try SQLiteFolder()
      let registration = try StoredForms.registration
      try await {
        let store = files.store(SQLiteFolder.key)
        let value = String(repeating: "x", count: 2_000_000)
        try #require(try await store.isFirstUse(of: value, until: Date() + 3600, at: Date()))
      }()
      try await eventually("the log is empty") { try files.bytes("-wal").isEmpty }
      let store = files.store(SQLiteFolder.key)
      let long = record("a", token: SQToken(accessToken: String(repeating: "t", count: 50_000)))
      // The store's first save empties the log. The next one stays there.
      try await store.save(record("a"))
      try await store.save(long)
      var limit = rlimit()
      try #require(getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
      var low = limit
      low.rlim_cur = rlim_t(try TemporaryFolder.size(files.path))
      try #require(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &low) == 0)
      try await store.changeKey(to: SQLiteFolder.otherKey)
      try #require(try await store.load("a") == long)
      try await store.save(record("b"))
      try await store.save(registration)
      // The erased record stays in the log, so the call fails, and so does its repetition.
      for _ in 1...2 { await failure(.storeFailed) { try await store.erase("b") } }
      try #require(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
      try await store.erase("b")
      try #require(try TemporaryFolder.size(files.path + "-wal") == 0)
      let reader = files.store(SQLiteFolder.otherKey)
      try #require(try await reader.all() == [long])
      try #require(try await reader.registration(at: registration.issuer) == registration)
    }
  }

  @Test func `a change of the key fails and changes nothing if a record is unreadable`()
    async throws
  {
    let files = try SQLiteFolder()
    try await files.fill([record("a"), record("b")], key: SQLiteFolder.key)
    try await files.sql("UPDATE accounts SET value=x'00' WHERE id='b'")
    let store = files.store(SQLiteFolder.key)
    await failure(.storeDamaged) { try await store.changeKey(to: SQLiteFolder.otherKey) }
    #expect(try await store.load("a") == record("a"))
    await failure(.wrongPassphrase) { try await files.store(SQLiteFolder.otherKey).load("a") }
  }
}

extension Data {
  fileprivate init?(hexadecimal text: Substring) {
    let digits = text.compactMap(\.hexDigitValue)
    guard digits.count == text.count, digits.count.isMultiple(of: 2) else { return nil }
    self.init(
      stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) })
  }
}
