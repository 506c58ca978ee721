import CSQSQLite
import FoundationEssentials
import Glibc

/// The system calls that replace a file durably, without the rest of a token store.
struct BareFile: Sendable {
  private let folder: String
  private let content: [UInt8]

  init(folder: String, size: Int) {
    self.folder = folder
    content = [UInt8](repeating: UInt8(ascii: "x"), count: size)
  }

  func save() throws {
    let lock = open("\(folder)/bare.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    defer { close(lock) }
    guard lock >= 0, flock(lock, LOCK_EX) == 0 else { throw BenchmarkError("the file lock failed") }
    let file = open("\(folder)/bare.new", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw BenchmarkError("the new file was not created") }
    let isWritten = write(file, content, content.count) == content.count && fsync(file) == 0
    close(file)
    guard isWritten, rename("\(folder)/bare.new", "\(folder)/bare") == 0 else {
      throw BenchmarkError("the file was not replaced")
    }
    let place = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    defer { close(place) }
    guard place >= 0, fsync(place) == 0 else { throw BenchmarkError("fsync of the folder failed") }
  }
}

/// Saves in SQLite with its C functions alone: one statement, prepared once.
final class BareDatabase: @unchecked Sendable {
  // Only one sample at a time uses the connection and the value.
  private var connection: OpaquePointer?
  private var upsert: OpaquePointer?
  private var value: [UInt8]

  init(path: String, value: Data) throws {
    self.value = Array(value)
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    guard sqlite3_open_v2(path, &connection, flags, nil) == SQLITE_OK else {
      throw BenchmarkError("SQLite opened no database")
    }
    try Self.execute(
      """
      PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA secure_delete=ON;
      CREATE TABLE accounts (id TEXT PRIMARY KEY NOT NULL, value BLOB NOT NULL) STRICT
      """, connection)
    let sql = """
      INSERT INTO accounts (id, value) VALUES ('alice', ?1)
      ON CONFLICT (id) DO UPDATE SET value = excluded.value
      """
    guard sqlite3_prepare_v2(connection, sql, -1, &upsert, nil) == SQLITE_OK else {
      throw BenchmarkError("SQLite prepared no statement")
    }
  }

  deinit {
    sqlite3_finalize(upsert)
    sqlite3_close(connection)
  }

  func save() throws {
    // SQLite does not write an unchanged value.
    value[0] &+= 1
    let result = value.withUnsafeBytes { bytes in
      sqlite3_bind_blob(upsert, 1, bytes.baseAddress, Int32(bytes.count), nil)
      return sqlite3_step(upsert)
    }
    sqlite3_reset(upsert)
    guard result == SQLITE_DONE else { throw BenchmarkError("SQLite did not save the value") }
  }

  /// Runs SQL on a separate connection.
  static func execute(_ sql: String, path: String) throws {
    var connection: OpaquePointer?
    defer { sqlite3_close(connection) }
    guard sqlite3_open_v2(path, &connection, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK else {
      throw BenchmarkError("SQLite opened no database")
    }
    try execute(sql, connection)
  }

  private static func execute(_ sql: String, _ connection: OpaquePointer?) throws {
    guard sqlite3_exec(connection, sql, nil, nil, nil) == SQLITE_OK else {
      throw BenchmarkError(String(cString: sqlite3_errmsg(connection)))
    }
  }
}
