import Foundation
import ProgramSupport
import SequencingOAuth
import TestSupport
import Testing

@testable import SQBasics
@testable import SequencingOAuthSQLite

/// The rules for the database's files, and for files that are not databases.
@Suite struct SQLiteTokenStoreTests {
  /// A process may be killed after it has given a new database its name, and before it has removed
  /// the temporary name.
  @Test func `a database has one name after the next call, even if its creator was killed`()
    async throws
  {
    let files = try SQLiteFolder()
    try await files.fill([record("a")])
    #expect(link(files.path, files.path + ".sq.new") == 0)
    #expect(try await files.store().list() == ["a"])
    #expect(try !files.names().contains("tokens.sqlite.sq.new"))
  }

  @Test func `files that a killed creator of a database has left do not get into a new one`()
    async throws
  {
    let files = try SQLiteFolder()
    for suffix in ["", "-wal", "-journal"] {
      try TemporaryFolder.write(Data("left".utf8), to: files.path + ".sq.new" + suffix)
    }
    try await files.fill([record("a")])
    #expect(try files.names() == ["tokens.sqlite", "tokens.sqlite-shm", "tokens.sqlite-wal"])
    #expect(try await files.store().list() == ["a"])
  }

  @Test func `all files get mode 0600 and created folders 0700`() async throws {
    let files = try SQLiteFolder()
    let path = files.folder.file("a/b/tokens.sqlite")
    let store = SQLiteTokenStore(path: path, key: nil)
    try await store.save(record("a"))
    for suffix in ["", "-wal", "-shm"] { #expect(try TemporaryFolder.mode(path + suffix) == 0o600) }
    for folder in ["a", "a/b"] {
      #expect(try TemporaryFolder.mode(files.folder.file(folder)) == 0o700)
    }
  }

  @Test(arguments: ["-wal", "-shm"])
  func `a database is rejected if others can write to its log or shared memory`(suffix: String)
    async throws
  {
    let files = try SQLiteFolder()
    try await files.fill([record("a")])
    #expect(chmod(files.path + suffix, 0o620) == 0)
    let error = await failure(.storeFailed) { try await files.store().load("a") }
    #expect(error?.message.contains("tokens.sqlite\(suffix)") == true)
  }

  /// A process has one umask for all its threads, so the test needs another process.
  @Test(arguments: ["0", "777"])
  func `the file modes do not depend on the process's umask`(mask: String) async throws {
    let files = try SQLiteFolder()
    let path = files.folder.file("a/tokens.sqlite")
    let line = String(decoding: try JSONEncoder().encode(record("a")), as: UTF8.self)
    let probe = try ChildProcess(
      [
        "sh", "-c", "umask $0; { echo \"$1\"; cat; } | \"$2\" \"$3\" save", mask, line,
        StoreProbe.executable, "sqlite:\(path)",
      ], input: .open)
    _ = try await probe.line(after: "saved")
    for suffix in ["", "-wal", "-shm"] { #expect(try TemporaryFolder.mode(path + suffix) == 0o600) }
    #expect(try TemporaryFolder.mode(files.folder.file("a")) == 0o700)
    await probe.stop()
    #expect(try await SQLiteTokenStore(path: path, key: nil).load("a") == record("a"))
  }

  @Test func `a database readable by others becomes private`() async throws {
    let files = try SQLiteFolder()
    try await files.fill([record("a")])
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: files.path)
    let store = files.store()
    #expect(try await store.list() == ["a"])
    for suffix in ["", "-wal", "-shm"] {
      #expect(try TemporaryFolder.mode(files.path + suffix) == 0o600)
    }
  }

  @Test func `the first call creates the database's files and no other files`()
    async throws
  {
    let files = try SQLiteFolder()
    let store = files.store()
    #expect(try files.names() == [])
    #expect(try await store.list() == [])
    #expect(
      try files.names() == ["tokens.sqlite", "tokens.sqlite-shm", "tokens.sqlite-wal"])
  }

  /// A log that shrinks would have to grow again at each save.
  @Test func `the log keeps its size until the database is closed`() async throws {
    let files = try SQLiteFolder()
    try await {
      let store = files.store()
      var size = 0
      // Each save changes 120 pages, and SQLite restarts the log after a thousand pages.
      for number in 0..<30 {
        let text = String(repeating: "\(number % 2)", count: 500_000)
        try await store.save(record("a", token: SQToken(accessToken: text)))
        // If this process opened and closed the log, the store's locks would end.
        let next = try TemporaryFolder.size(files.path + "-wal")
        #expect(next >= size)
        size = next
      }
      #expect(size > 4_000_000 && size < 8_000_000)
    }()
    try await eventually("the log is empty") { try files.bytes("-wal").isEmpty }
  }

  @Test(arguments: ["", "-wal", "-shm"])
  func `a symbolic link is rejected and its target not changed`(suffix: String) async throws {
    let files = try SQLiteFolder()
    if !suffix.isEmpty { try await files.fill([record("a")]) }
    let target = files.folder.file("target")
    try Data("precious".utf8).write(to: URL(filePath: target))
    try? FileManager.default.removeItem(atPath: files.path + suffix)
    try FileManager.default.createSymbolicLink(
      atPath: files.path + suffix, withDestinationPath: target)
    let store = files.store()
    await failure(.storeFailed) { try await store.save(record("b")) }
    #expect(try Data(contentsOf: URL(filePath: target)) == Data("precious".utf8))
  }

  @Test func `a dangling link is not followed to create a file elsewhere`() async throws {
    let files = try SQLiteFolder()
    let target = files.folder.file("target")
    try FileManager.default.createSymbolicLink(
      atPath: files.path, withDestinationPath: target)
    await failure(.storeFailed) { try await files.store().save(record("a")) }
    #expect(!FileManager.default.fileExists(atPath: target))
  }

  @Test(.timeLimit(.minutes(1)))
  func `a folder or a named pipe in the file's place is rejected at once`() async throws {
    let files = try SQLiteFolder()
    await failure(.storeFailed) {
      try await SQLiteTokenStore(path: files.folder.path, key: nil).save(record("a"))
    }
    try #require(mkfifo(files.path, 0o600) == 0)
    await failure(.storeFailed) { try await files.store().save(record("a")) }
  }

  /// A home folder may well be a symbolic link.
  @Test func `the database's folder may be a symbolic link`() async throws {
    let files = try SQLiteFolder()
    try FileManager.default.createDirectory(
      atPath: files.folder.file("real"), withIntermediateDirectories: false)
    try FileManager.default.createSymbolicLink(
      atPath: files.folder.file("link"), withDestinationPath: files.folder.file("real"))
    try await SQLiteTokenStore(path: files.folder.file("link/t"), key: nil).save(record("a"))
    #expect(try await SQLiteTokenStore(path: files.folder.file("real/t"), key: nil).list() == ["a"])
  }

  @Test(arguments: [
    "CREATE TABLE accounts (id TEXT PRIMARY KEY, value BLOB)",
    "PRAGMA application_id=7; CREATE TABLE t (a)",
    "PRAGMA journal_mode=WAL; CREATE TABLE t (a)",
  ])
  func `another program's database is rejected and not changed`(sql: String) async throws {
    let files = try SQLiteFolder()
    try await files.sql(sql)
    let before = try files.bytes()
    let names = try files.names()
    let error = await failure(.storeFailed) { try await files.store().save(record("a")) }
    #expect(error?.message.contains(files.path) == true)
    #expect(try files.bytes() == before)
    #expect(try files.names() == names)
  }

  @Test func `a database that another program has open is rejected`() async throws {
    let files = try SQLiteFolder()
    let sql = "PRAGMA journal_mode=WAL; CREATE TABLE t (a)"
    let program = try ChildProcess(
      ["sqlite3", "-batch", files.path, sql, ".shell cat"], input: .open)
    // The log then has two pages, each with a header.
    try await eventually("the program has written to the log") {
      (try? files.bytes("-wal").count) ?? 0 > 8192
    }
    let before = try ["", "-wal"].map { try files.bytes($0) }
    await failure(.storeFailed) { try await files.store().save(record("a")) }
    #expect(try ["", "-wal"].map { try files.bytes($0) } == before)
    await program.stop()
  }

  @Test(arguments: ["", "{\"version\": 1}", "x"])
  func `a file that is not a database is rejected and not changed`(text: String) async throws {
    let files = try SQLiteFolder()
    let content = Data(text.utf8)
    try TemporaryFolder.write(content, to: files.path)
    await failure(.storeDamaged) { try await files.store().save(record("a")) }
    #expect(try files.bytes() == content)
  }

  @Test func `a database of a newer format is rejected and not changed`() async throws {
    let files = try SQLiteFolder()
    try await files.fill([record("a")])
    try await files.sql("PRAGMA user_version=99")
    let before = try files.bytes()
    await failure(.storeTooNew) { try await files.store().load("a") }
    await failure(.storeTooNew) { try await files.store().save(record("a")) }
    #expect(try files.bytes() == before)
  }

  @Test(arguments: [
    "CREATE TRIGGER t AFTER INSERT ON accounts BEGIN DELETE FROM accounts; END",
    "CREATE TABLE copy AS SELECT * FROM accounts", "DROP TABLE meta",
    "ALTER TABLE accounts RENAME COLUMN value TO data",
  ])
  func `tables that another program changed are rejected`(sql: String) async throws {
    let files = try SQLiteFolder()
    try await files.fill([record("a")])
    try await files.sql(sql)
    await failure(.storeDamaged) { try await files.store().load("a") }
  }

  @Test func `a record under another account's id is reported as damaged`() async throws {
    let files = try SQLiteFolder()
    try await files.fill([record("a")])
    try await files.sql("UPDATE accounts SET id='b'")
    let store = files.store()
    await failure(.storeDamaged) { try await store.load("b") }
    await failure(.storeDamaged) { try await store.all() }
    #expect(try await store.load("a") == nil)
  }

  /// SQLite would mistake the log for that of the new database.
  @Test func `a log without its database is rejected and not changed`() async throws {
    let files = try SQLiteFolder()
    let log = Data(repeating: 1, count: 100)
    try TemporaryFolder.write(log, to: files.path + "-wal")
    await failure(.storeDamaged) { try await files.store().save(record("a")) }
    #expect(try files.names() == ["tokens.sqlite-wal"])
    #expect(try files.bytes("-wal") == log)
  }

  @Test func `a database that was removed while open is created again`() async throws {
    let files = try SQLiteFolder()
    let store = files.store()
    try await store.save(record("a"))
    for suffix in ["", "-wal", "-shm"] {
      try FileManager.default.removeItem(atPath: files.path + suffix)
    }
    #expect(try await store.list() == [])
    try await store.save(record("b"))
    #expect(try await files.store().list() == ["b"])
  }

  @Test(.timeLimit(.minutes(1)))
  func `a save to a locked database fails, and succeeds once the lock is released`() async throws {
    let files = try SQLiteFolder()
    let store = SQLiteTokenStore(path: files.path, key: nil, busyTimeout: .milliseconds(50))
    try await store.save(record("a"))
    let other = try await files.holder("BEGIN IMMEDIATE")
    let error = await failure(.storeFailed) { try await store.save(record("b")) }
    #expect(error?.message.contains("process \(other.processID) (sqlite3) keeps it locked") == true)
    // A reader does not wait.
    #expect(try await store.list() == ["a"])
    await other.stop()
    try await store.save(record("b"))
    #expect(try await store.list() == ["a", "b"])
  }

  /// The store's time limit is an hour, and each call of a process waits for the one before.
  @Test(.timeLimit(.minutes(1)))
  func `a call whose time limit has passed before its work begins tries once`() async throws {
    let files = try SQLiteFolder()
    let database = AccountDatabase(path: files.path, key: nil, busyTimeout: .seconds(3600))
    let save = { () throws in
      try BlockingQueue.$start.withValue(.now - .seconds(7200)) {
        try database.use { table throws(SQOAuthError) in try table.save(record("a")) }
      }
    }
    try save()
    let writer = try await files.holder("BEGIN IMMEDIATE")
    failure(.storeFailed) { try save() }
    await writer.stop()
    try save()
  }

  @Test func `an erased record is in none of the files`() async throws {
    let files = try SQLiteFolder()
    let store = files.store()
    let secret = "s3cr3t-" + String(repeating: "long", count: 3000)
    try await store.save(record("a", token: SQToken(accessToken: secret)))
    try await store.save(record("b"))
    try await store.save(record("a", token: SQToken(accessToken: secret + "2")))
    #expect(try files.files(with: "s3cr3t") != [])
    try await store.erase("a")
    #expect(try files.files(with: "s3cr3t") == [])
    #expect(try files.files(with: "longlong") == [])
    #expect(try await store.load("b") == record("b"))
  }

  /// Replaced values also disappear; they stay in the log only while the database is open.
  @Test func `a closed database has an empty log`() async throws {
    let files = try SQLiteFolder()
    try await files.fill([
      record("a", token: SQToken(accessToken: "s3cr3t")), record("a"),
    ])
    #expect(try files.names() == ["tokens.sqlite", "tokens.sqlite-shm", "tokens.sqlite-wal"])
    #expect(try files.files(with: "s3cr3t") == [])
  }

  /// The log cannot be truncated while another process reads it.
  @Test(.timeLimit(.minutes(1)))
  func `a record erased during a read is removed from the files by the next write`() async throws {
    let files = try SQLiteFolder()
    let store = SQLiteTokenStore(path: files.path, key: nil, busyTimeout: .milliseconds(50))
    try await store.save(record("a", token: SQToken(accessToken: "s3cr3t")))
    let reader = try await files.holder("BEGIN", "SELECT id FROM accounts")
    try await store.erase("a")
    #expect(try await store.list() == [])
    // If this process read the files, the store's locks would end.
    let search = try await ChildProcess.run(["grep", "-rq", "s3cr3t", files.folder.path])
    #expect(search.status == 0, "the log cannot be emptied during the read")
    await reader.stop()
    try await store.save(record("b"))
    #expect(try files.files(with: "s3cr3t") == [])
  }

  /// If the erasure waited for the reader, it would wait for the store's time limit of an hour.
  ///
  /// While the erasure waited, no other process could write.
  @Test(.timeLimit(.minutes(1)))
  func `an erasure during a read does not wait, and other processes can save`() async throws {
    let files = try SQLiteFolder()
    let store = SQLiteTokenStore(path: files.path, key: nil, busyTimeout: .seconds(3600))
    try await store.save(record("a", token: SQToken(accessToken: "s3cr3t")))
    let reader = try await files.holder("BEGIN", "SELECT id FROM accounts")
    try await store.erase("a")
    let line = String(decoding: try JSONEncoder().encode(record("b")), as: UTF8.self)
    let other = try await ChildProcess.run(
      [StoreProbe.executable, "sqlite:\(files.path)", "save"], input: .text(line + "\n"))
    #expect(other.status == 0 && other.output == "saved\n", "\(other.errors)")
    // Each change after the erasure tries to empty the log again.
    try await store.save(record("c"))
    #expect(reader.isRunning)
    #expect(try await store.list() == ["b", "c"])
    // The store still waits for another writer.
    let writer = try await files.holder("BEGIN IMMEDIATE")
    let waiting = Task { try await store.save(record("d")) }
    await writer.stop()
    try await waiting.value
    await reader.stop()
  }

  @Test func `among many accounts, erased records are in none of the files`() async throws {
    let files = try SQLiteFolder()
    let store = files.store()
    let count = 300
    for index in 0..<count {
      let token = SQToken(
        accessToken: "s3cr3t-\(index)-" + String(repeating: "x", count: index * 37 % 5000))
      try await store.save(record("account \(index * 7919 % count)", token: token))
    }
    for id in try await store.list().dropFirst(10) { try await store.erase(id) }
    let kept = try await store.all().map(\.token.accessToken)
    #expect(kept.count == 10)
    for index in 0..<count {
      let mark = "s3cr3t-\(index)-"
      guard !kept.contains(where: { $0.hasPrefix(mark) }) else { continue }
      #expect(try files.files(with: mark) == [])
    }
  }

  @Test func `a new store loads the records whether or not the earlier store is closed`()
    async throws
  {
    let files = try SQLiteFolder()
    try await files.fill([record("a")])
    let open = files.store()
    try await open.save(record("b"))
    #expect(try await files.store().load("a") == record("a"))
    #expect(try await files.store().load("b") == record("b"))
  }

  /// AeroGear's SQLite stores had integer ids and could not change a record.
  @Test func `a record can be updated repeatedly`() async throws {
    let files = try SQLiteFolder()
    let store = files.store()
    for round in 0..<100 {
      try await store.save(record("alice", token: SQToken(accessToken: "\(round)")))
      #expect(try await files.store().load("alice")?.token.accessToken == "\(round)")
    }
    #expect(try await store.list() == ["alice"])
  }

  @Test func `ids are sorted by their bytes`() async throws {
    let files = try SQLiteFolder()
    let store = files.store()
    let ids = ["\u{FF5E}", "\u{1F600}", "\u{E9}", "z", "a", "B", "\u{65}\u{301}a", ""]
    for id in ids { try await store.save(record(id)) }
    let sorted = ids.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    #expect(try await store.list() == sorted && sorted != ids.sorted())
    #expect(try await store.all().map(\.id) == sorted)
  }

  @Test(.timeLimit(.minutes(1)))
  func `simultaneous first calls of many stores create one database`() async throws {
    let files = try SQLiteFolder()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for index in 0..<20 {
        let store = files.store(SQLiteFolder.key)
        group.addTask { try await store.save(record("\(index)")) }
      }
      try await group.waitForAll()
    }
    #expect(try await files.store(SQLiteFolder.key).list().count == 20)
  }

  @Test(.timeLimit(.minutes(3)))
  func `a store of 10,000 accounts loads and lists them`() async throws {
    let files = try SQLiteFolder()
    try await files.fill([record("account 0")])
    let value = try JSONEncoder().encode(record("account 0")).map { String(format: "%02X", $0) }
      .joined()
    // Inserts the accounts by SQL, because the store would flush each save to the disk.
    try await files.sql(
      """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9999)
      INSERT INTO accounts (id, value) SELECT 'account ' || i,
        CAST(replace(CAST(x'\(value)' AS TEXT), 'account 0', 'account ' || i) AS BLOB) FROM n
      """)
    let store = files.store()
    #expect(try await store.load("account 9999") == record("account 9999"))
    #expect(try await store.load("account 10000") == nil)
    #expect(try await store.list().count == 10_000)
    #expect(try await store.all().count == 10_000)
  }

  @Test func `a service name that is no valid file name is rejected`() async throws {
    for name in ["", "..", "a/b", "a/\u{301}b"] {
      failure(.invalidConfiguration) { try SQLiteTokenStore(service: name, key: nil) }
      failure(.invalidConfiguration) { try StoreKey.file(service: name) }
    }
  }
}
