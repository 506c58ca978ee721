import Foundation
import ProgramSupport
import SequencingOAuth
import SequencingOAuthSQLite
import TestSupport
import Testing

/// A database in its own folder, with methods that fill the database and read its files.
struct SQLiteFolder {
  let folder: TemporaryFolder
  var path: String { folder.file("tokens.sqlite") }

  init() throws {
    folder = try TemporaryFolder()
  }

  func store(_ key: StoreKey? = nil) -> SQLiteTokenStore {
    SQLiteTokenStore(path: path, key: key)
  }

  /// Saves records and closes the database, so that its log is empty.
  func fill(_ records: [AccountRecord], key: StoreKey? = nil) async throws {
    try await {
      let store = store(key)
      // Creates the database even without records.
      _ = try await store.list()
      for record in records { try await store.save(record) }
    }()
    try await eventually("the log is empty") { try bytes("-wal").isEmpty }
  }

  /// Runs SQL as another program would.
  @discardableResult
  func sql(_ sql: String) async throws -> String {
    let result = try await ChildProcess.run([
      "sqlite3", "-batch", "-cmd", ".timeout 30000", path, sql,
    ])
    try #require(result.status == 0, "\(result.errors)")
    return result.output
  }

  /// Starts another program that runs statements, such as `BEGIN IMMEDIATE`, and then keeps its
  /// transaction open until it is stopped.
  func holder(_ statements: String...) async throws -> ChildProcess {
    let holder = try ChildProcess(
      ["sqlite3", "-batch", path] + statements + [".shell echo holding; cat"], input: .open)
    _ = try await holder.line(after: "holding")
    return holder
  }

  func bytes(_ suffix: String = "") throws -> Data {
    try Data(contentsOf: URL(filePath: path + suffix))
  }

  /// Returns the names of the files that contain `text`.
  func files(with text: String) throws -> [String] {
    try names().filter { name in
      try Data(contentsOf: URL(filePath: folder.file(name))).range(of: Data(text.utf8)) != nil
    }
  }

  /// Returns the sorted names of the files in the folder, without the folder of the locks.
  func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { name in
      !name.hasSuffix(".locks")
    }.sorted()
  }

  static let key = StoreKey.raw(Data(repeating: 7, count: 32))
  static let otherKey = StoreKey.raw(Data(repeating: 8, count: 32))
}
