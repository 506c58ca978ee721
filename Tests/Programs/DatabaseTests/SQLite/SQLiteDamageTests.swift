import Foundation
import ProgramSupport
import SQBasics
import SequencingOAuth
import SequencingOAuthSQLite
import TestSupport
import Testing

/// Database files that lost or changed bytes.
@Suite struct SQLiteDamageTests {
  private static let records = ["a", "b", "c"].map {
    record($0, token: SQToken(accessToken: "token of \($0)", refreshToken: "r"))
  }

  @Test(.timeLimit(.minutes(3)), arguments: [nil, SQLiteFolder.key])
  func `a flipped byte in a database file causes an error or has no effect`(key: StoreKey?)
    async throws
  {
    let files = try SQLiteFolder()
    try await files.fill(Self.records, key: key)
    let whole = try files.bytes()
    // Covers the headers of the pages, where a byte can hide rows, and samples of the rest.
    let heads = stride(from: 0, to: whole.count, by: 4096).flatMap { $0..<$0 + 16 }
    let offsets = Array(0..<116) + heads + Array(stride(from: 116, to: whole.count, by: 127))
    var errors = 0
    for offset in offsets {
      var content = whole
      content[offset] ^= UInt8(truncatingIfNeeded: offset * 37 % 255 + 1)
      try await errors += Self.check(content, key, "byte \(offset)")
    }
    #expect(errors > 50)
  }

  @Test(.timeLimit(.minutes(3)), arguments: [nil, SQLiteFolder.key])
  func `a database file that lost a page or more causes an error`(key: StoreKey?) async throws {
    let files = try SQLiteFolder()
    try await files.fill(Self.records, key: key)
    let whole = try files.bytes()
    for size in [0, 1, 50, 99, 100, 512] + stride(from: 1000, to: whole.count, by: 1000) {
      let errors = try await Self.check(whole.prefix(size), key, "\(size) bytes")
      // The last page may be empty, so a file that lost only a part of that page may still be
      // valid.
      if size <= whole.count - 4096 { #expect(errors == 1, "\(size) bytes") }
    }
  }

  @Test func `a changed letter in a token is reported as damage, even without encryption`()
    async throws
  {
    let files = try SQLiteFolder()
    try await files.fill(Self.records)
    var content = try files.bytes()
    let place = try #require(content.range(of: Data("token of b".utf8)))
    content[place.lowerBound] ^= 1
    try TemporaryFolder.write(content, to: files.path)
    let store = files.store()
    await failure(.storeDamaged) { try await store.load("b") }
    #expect(try await store.load("a") == Self.records[0])
    #expect(try files.bytes() == content)
  }

  @Test func `a record of an older version without a digest can be read`() async throws {
    let files = try SQLiteFolder()
    try await files.fill([record("a"), record("b")])
    let json = String(decoding: try JSONEncoder().encode(record("a")), as: UTF8.self)
      .replacing("'", with: "''")
    try await files.sql("UPDATE accounts SET value=CAST('\(json)' AS BLOB) WHERE id='a'")
    #expect(try await files.store().all() == [record("a"), record("b")])
  }

  /// A branch of SQLite has a third journal mode besides the rollback journal and the log.
  @Test(arguments: [18, 19])
  func `a database in a journal mode that SQLite does not know is not reported as damaged`(
    offset: Int
  ) async throws {
    let files = try SQLiteFolder()
    try await files.fill(Self.records)
    var content = try files.bytes()
    content[offset] = 3
    try TemporaryFolder.write(content, to: files.path)
    await failure(.storeTooNew) { try await files.store().list() }
    #expect(try files.bytes() == content)
  }

  /// Everything after a damaged part of the log is lost, as after a power loss.
  @Test(.timeLimit(.minutes(3)))
  func `a flipped byte in the log yields an earlier, complete state`() async throws {
    let files = try SQLiteFolder()
    let store = files.store(SQLiteFolder.key)
    // Empties the log, which the store's first save would do otherwise.
    try await store.erase("a")
    for record in Self.records { try await store.save(record) }
    let (whole, log) = (try files.bytes(), try files.bytes("-wal"))
    var counts: Set<Int> = []
    for offset in stride(from: 0, to: log.count, by: 997) {
      var content = log
      content[offset] ^= 0x55
      let copy = try SQLiteFolder()
      try TemporaryFolder.write(whole, to: copy.path)
      try TemporaryFolder.write(content, to: copy.path + "-wal")
      let records = try await copy.store(SQLiteFolder.key).all()
      #expect(records == Array(Self.records.prefix(records.count)))
      counts.insert(records.count)
    }
    // Each save added at least a page to the log, so bytes of all three saves were flipped.
    #expect(counts == [0, 1, 2])
  }

  @Test func `a save to a damaged database fails and changes neither the database nor its log`()
    async throws
  {
    let files = try SQLiteFolder()
    let store = files.store()
    for record in Self.records { try await store.save(record) }
    let copy = try SQLiteFolder()
    var content = try files.bytes()
    // Changes the number of cells on the schema's page. The log has no other copy of this page,
    // because the saves do not change it.
    content[103] ^= 1
    let log = try files.bytes("-wal")
    try #require(!log.isEmpty)
    try TemporaryFolder.write(content, to: copy.path)
    try TemporaryFolder.write(log, to: copy.path + "-wal")
    await failure(.storeDamaged) { try await copy.store().save(record("d")) }
    #expect(try copy.bytes() == content)
    #expect(try copy.bytes("-wal") == log)
  }

  /// The store has read the whole database before the truncation, so only emptying the log fails.
  @Test(.timeLimit(.minutes(1)))
  func `an erasure in a truncated database reports that the log cannot be emptied`()
    async throws
  {
    let files = try SQLiteFolder()
    let token = SQToken(accessToken: String(repeating: "x", count: 4000))
    try await files.fill((0..<100).map { record("\($0)", token: token) })
    let store = files.store()
    try await store.save(record("0"))
    // If this process opened and closed the database, the store's locks would end.
    let cut = try await ChildProcess.run(["truncate", "-s", "8192", files.path])
    try #require(cut.status == 0, "\(cut.errors)")
    let error = await failure(.storeFailed) { try await store.erase("1") }
    #expect(error?.message.contains("its log cannot be emptied") == true)
    #expect(error?.message.contains("not changed") == false)
    // The next call opens the database again, and checks it.
    await failure(.storeDamaged) { try await store.erase("1") }
  }

  /// Expects either store errors and an unchanged file, or the saved records.
  ///
  /// Returns 1 if there was an error, and 0 otherwise.
  private static func check(
    _ content: Data, _ key: StoreKey?, _ what: String
  ) async throws -> Int {
    let files = try SQLiteFolder()
    try TemporaryFolder.write(content, to: files.path)
    let store = files.store(key)
    let codes: [SQOAuthError.Code] = [
      .storeDamaged, .storeFailed, .storeTooNew, .wrongPassphrase,
    ]
    var errors = 0
    do throws(SQOAuthError) {
      #expect(try await store.list() == records.map(\.id), "\(what)")
    } catch {
      errors += 1
      #expect(codes.contains(error.code), "\(what): \(error)")
      #expect(try files.bytes() == content, "\(what)")
    }
    for record in records {
      do throws(SQOAuthError) {
        let loaded = try await store.load(record.id)
        #expect(loaded == record, "\(what)")
      } catch {
        errors += 1
        #expect(codes.contains(error.code), "\(what): \(error)")
      }
    }
    return min(errors, 1)
  }
}
