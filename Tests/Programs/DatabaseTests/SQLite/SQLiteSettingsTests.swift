import Foundation
import ProgramSupport
import SQBasics
import SequencingOAuth
import TestSupport
import Testing

@testable import SequencingOAuthSQLite

/// Settings of SQLite that the app makes for its whole process.
///
/// Each test that makes one runs in its own process.
@Suite(.timeLimit(.minutes(2))) struct SQLiteSettingsTests {
  private typealias Configure = @convention(c) (Int32) -> Int32
  private typealias Find = @convention(c) (UnsafePointer<CChar>?) -> OpaquePointer?
  private typealias Register = @convention(c) (OpaquePointer?, Int32) -> Int32

  /// Returns a function of the process's SQLite, which the tests do not import.
  private static func function<Function>(
    _ name: String, as type: Function.Type
  ) throws -> Function {
    let symbol = try #require(dlsym(dlopen(nil, RTLD_NOW), name))
    return unsafeBitCast(symbol, to: type)
  }

  /// Sets SQLite up: 1 is SQLITE_CONFIG_SINGLETHREAD, 2 is SQLITE_CONFIG_MULTITHREAD.
  private static func configure(_ option: Int32) throws {
    let configure = try function("sqlite3_config", as: Configure.self)
    try #require(configure(option) == 0)
  }

  @Test(.ownThreads) func `a single-threaded SQLite is refused before any file is created`() async {
    await #expect(processExitsWith: .success) {
      try SQLiteSettingsTests.configure(1)
      let files = try SQLiteFolder()
      let error = await failure(.storeFailed) { try await files.store().save(record("a")) }
      #expect(error?.message.contains("SINGLETHREAD") == true)
      #expect(try files.names() == [])
    }
  }

  @Test(.ownThreads) func `the store works if SQLite's connections have no locks by default`() async
  {
    await #expect(processExitsWith: .success) {
      try SQLiteSettingsTests.configure(2)
      let files = try SQLiteFolder()
      try await files.store().save(record("a"))
      #expect(try await files.store().load("a") == record("a"))
    }
  }

  @Test(.ownThreads) func `the store locks its database if the default file system has no locks`()
    async
  {
    await #expect(processExitsWith: .success) {
      let find = try SQLiteSettingsTests.function("sqlite3_vfs_find", as: Find.self)
      let register = try SQLiteSettingsTests.function("sqlite3_vfs_register", as: Register.self)
      let lockless = try #require(find("unix-none"))
      try #require(register(lockless, 1) == 0)
      let files = try SQLiteFolder()
      let store = SQLiteTokenStore(path: files.path, key: nil, busyTimeout: .zero)
      try await store.save(record("a"))
      #expect(
        try files.names() == ["tokens.sqlite", "tokens.sqlite-shm", "tokens.sqlite-wal"])
      let program = try await files.holder("BEGIN IMMEDIATE")
      await failure(.storeFailed) { try await store.save(record("b")) }
      await program.stop()
      try await store.save(record("b"))
    }
  }

  /// SQLite keeps no log for a database in memory, and reports no error.
  @Test func `a database for which SQLite keeps no log is refused`() throws {
    let connection = try Connection(":memory:")
    failure(.storeFailed) { try connection.beginWriting() }
  }
}
