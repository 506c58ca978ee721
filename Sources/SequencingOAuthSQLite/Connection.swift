import CSQSQLite
import SQFiles
import SequencingOAuth

/// A connection to an existing database, used by one thread at a time.
///
/// Its errors do not name the database; the caller adds the path that the app gave.
final class Connection {
  /// The pause between attempts to empty the log, in milliseconds.
  private static let emptyingPause: Int32 = 10

  private let handle: OpaquePointer
  private var statements: [String: Statement] = [:]
  /// When statements stop waiting for another process that writes.
  private var waitEnd = ContinuousClock.now

  /// Opens a database file at a path without symbolic links, without taking a lock.
  ///
  /// Before ``beginWriting()``, nothing is written to the file, not even the content of the log.
  init(_ file: String) throws(SQOAuthError) {
    let flags =
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_FULLMUTEX
      | SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_EXRESCODE
    var handle: OpaquePointer?
    // The app may have made another VFS SQLite's default, even a VFS without locks.
    let result = sqlite3_open_v2(file, &handle, flags, "unix")
    guard result == SQLITE_OK, let handle else {
      let error = SQLiteError(handle)
      sqlite3_close_v2(handle)
      throw Self.failure(error, nil)
    }
    // The flags ask for a lock for the connection. If there is none, SQLite has no locks at all: it
    // was built without locks, or the app called `sqlite3_config(SQLITE_CONFIG_SINGLETHREAD)`.
    // `sqlite3_threadsafe` shows only how SQLite was built.
    guard sqlite3_db_mutex(handle) != nil else {
      sqlite3_close_v2(handle)
      throw SQOAuthError(
        .storeFailed,
        "the program's SQLite is set up for one thread, and the store uses another; remove "
          + "sqlite3_config(SQLITE_CONFIG_SINGLETHREAD), or use an SQLite that was built with "
          + "SQLITE_THREADSAFE=1")
    }
    self.handle = handle
    sq_set_checkpoint_on_close(handle, 0)
  }

  /// Enables writing, and has SQLite move the log into the database file when the last connection
  /// closes.
  func beginWriting() throws(SQOAuthError) {
    // If SQLite cannot keep a log, it silently keeps the mode that it has.
    let mode = try run("PRAGMA journal_mode=WAL") { $0.text(0) }.compactMap(\.self).first
    guard mode == "wal" else {
      throw SQOAuthError(
        .storeFailed,
        "SQLite cannot keep a write-ahead log for it; put the database on a local disk, and use an "
          + "SQLite that was built with write-ahead logs")
    }
    try execute("PRAGMA synchronous=FULL; PRAGMA secure_delete=ON")
    sq_set_checkpoint_on_close(handle, 1)
  }

  deinit {
    for statement in statements.values { sqlite3_finalize(statement.pointer) }
    sqlite3_close_v2(handle)
  }

  /// Lets the following statements wait, all together until a moment, while another process writes.
  ///
  /// Each statement tries at least once, even after that moment.
  func waitForWriters(until end: ContinuousClock.Instant) {
    waitEnd = end
  }

  /// Gives SQLite the rest of the time to wait; call it before each statement.
  ///
  /// SQLite's own limit begins anew with each statement.
  private func setBusyTimeout() {
    let rest = (waitEnd - .now) / .milliseconds(1)
    sqlite3_busy_timeout(handle, Int32(clamping: Int64(rest.rounded(.up))))
  }

  /// Makes SQLite keep the emptied log and its index when the last connection closes.
  ///
  /// Creating them again needs disk space, so on a full disk not even loading a record would work.
  /// While connections are open, the log keeps up to twice its usual maximum size, because saving
  /// into a growing file takes the disk twice as long.
  func keepLog() throws(SQOAuthError) {
    var isKept: Int32 = 1
    sqlite3_file_control(handle, "main", SQLITE_FCNTL_PERSIST_WAL, &isKept)
    // With any size limit, SQLite empties a kept log when the last connection closes.
    try execute("PRAGMA journal_size_limit=\(8 * 1024 * 1024)")
  }

  /// Reads the first 100 bytes of the file, without a lock and without the log.
  ///
  /// It uses SQLite's own descriptor: if a process closes any other descriptor for the file, it
  /// loses all its locks on that file. Returns `nil` if the file is shorter.
  ///
  /// - SeeAlso: The SQLite Database File Format, section 1.3
  func header() throws(SQOAuthError) -> [UInt8]? {
    guard let file = file(SQLITE_FCNTL_FILE_POINTER) else { throw failure() }
    return try read(100, of: file, at: 0)
  }

  /// Reads the whole database and its log, and throws if the disk does not give a part of them.
  ///
  /// SQLite's own check of the pages also calls a page damaged if the disk cannot read it.
  func readAll() throws(SQOAuthError) {
    for part in [SQLITE_FCNTL_FILE_POINTER, SQLITE_FCNTL_JOURNAL_POINTER] {
      guard let file = file(part) else { continue }
      var (size, offset): (sqlite3_int64, sqlite3_int64) = (0, 0)
      let result = file.pointee.pMethods.pointee.xFileSize(file, &size)
      guard result == SQLITE_OK else { throw failure(ofFile: result) }
      while offset < size {
        _ = try read(1 << 16, of: file, at: offset)
        offset += 1 << 16
      }
    }
  }

  /// Returns SQLite's own descriptor for the database or its log; `nil` if it is not open.
  private func file(_ part: Int32) -> UnsafeMutablePointer<sqlite3_file>? {
    var file: UnsafeMutablePointer<sqlite3_file>?
    guard sqlite3_file_control(handle, "main", part, &file) == SQLITE_OK,
      file?.pointee.pMethods != nil
    else { return nil }
    return file
  }

  /// Reads bytes of a file; returns `nil` if the file ends before.
  private func read(
    _ count: Int, of file: UnsafeMutablePointer<sqlite3_file>, at offset: sqlite3_int64
  ) throws(SQOAuthError) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    switch file.pointee.pMethods.pointee.xRead(file, &bytes, Int32(count), offset) {
    case SQLITE_OK: return bytes
    case SQLITE_IOERR | 2 << 8: return nil  // SQLITE_IOERR_SHORT_READ
    case let result: throw failure(ofFile: result)
    }
  }

  /// Returns the failure of a call to a file, which SQLite does not note in the connection.
  private func failure(ofFile code: Int32) -> SQOAuthError {
    var reason: Int32 = 0
    sqlite3_file_control(handle, "main", SQLITE_FCNTL_LAST_ERRNO, &reason)
    return Self.failure(SQLiteError(code: code, errno: reason), nil)
  }

  /// Whether the database's path no longer leads to the open file.
  var hasMoved: Bool {
    var moved: Int32 = 0
    sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &moved)
    return moved != 0
  }

  /// The number of rows that the latest INSERT, UPDATE or DELETE changed.
  var changes: Int64 { sqlite3_changes64(handle) }

  /// Runs statements once, without keeping them prepared.
  func execute(_ sql: String) throws(SQOAuthError) {
    setBusyTimeout()
    guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw failure() }
  }

  /// Runs a statement and reads its rows; the prepared statement is kept for the next time.
  @discardableResult
  func run<Row>(
    _ sql: String, _ values: Value..., read: (Statement) throws(SQOAuthError) -> Row
  ) throws(SQOAuthError) -> [Row] {
    try run(sql, values, read: read)
  }

  /// Runs a statement with an array of values.
  @discardableResult
  func run<Row>(
    _ sql: String, _ values: [Value], read: (Statement) throws(SQOAuthError) -> Row
  ) throws(SQOAuthError) -> [Row] {
    setBusyTimeout()
    let statement = try prepared(sql)
    defer { statement.reset() }
    for (index, value) in values.enumerated() {
      guard statement.bind(value, at: Int32(index + 1)) else { throw failure() }
    }
    var rows: [Row] = []
    while true {
      switch sqlite3_step(statement.pointer) {
      case SQLITE_ROW: rows.append(try read(statement))
      case SQLITE_DONE: return rows
      default: throw failure()
      }
    }
  }

  private func prepared(_ sql: String) throws(SQOAuthError) -> Statement {
    if let statement = statements[sql] { return statement }
    var pointer: OpaquePointer?
    let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
    guard sqlite3_prepare_v3(handle, sql, -1, flags, &pointer, nil) == SQLITE_OK, let pointer
    else { throw failure() }
    let statement = Statement(pointer: pointer)
    statements[sql] = statement
    return statement
  }

  /// Runs a body in one transaction that excludes other writers and applies all changes or none.
  func transaction<Value>(
    _ body: () throws(SQOAuthError) -> Value
  ) throws(SQOAuthError) -> Value {
    try execute("BEGIN IMMEDIATE")
    do throws(SQOAuthError) {
      let value = try body()
      try execute("COMMIT")
      return value
    } catch {
      // Some failures have already ended the transaction.
      if sqlite3_get_autocommit(handle) == 0 { try? execute("ROLLBACK") }
      throw error
    }
  }

  /// Empties the log into the database; returns `false` if another process keeps using the log.
  ///
  /// Between the attempts no lock is held, so that a process that reads for long does not make the
  /// others wait.
  func emptyLog(attempts: Int) throws(SQOAuthError) -> Bool {
    // SQLite takes the write lock first, and would keep it while it waits for the readers. If another
    // process has that lock, SQLite would only copy the log, beside the writer. Before version
    // 3.51.3, this could damage the database if the writer begins the log anew at that moment. So
    // the attempt ends as soon as it would have to wait.
    sqlite3_busy_handler(
      handle,
      { handle, _ in
        sqlite3_interrupt(handle.map { OpaquePointer($0) })
        return 0
      }, UnsafeMutableRawPointer(handle))
    for attempt in 1...attempts {
      if try tryToEmptyLog() { return true }
      if attempt < attempts { sqlite3_sleep(Self.emptyingPause) }
    }
    return false
  }

  /// - SeeAlso: SQLite's documentation of `sqlite3_wal_checkpoint_v2`, and "The WAL-Reset Bug" in
  ///   "Write-Ahead Logging"
  private func tryToEmptyLog() throws(SQOAuthError) -> Bool {
    let mode = SQLITE_CHECKPOINT_TRUNCATE
    switch sqlite3_wal_checkpoint_v2(handle, "main", mode, nil, nil) {
    case SQLITE_OK: return true
    case let result where [SQLITE_BUSY, SQLITE_INTERRUPT].contains(result & 0xff): return false
    default:
      // The erasure itself is saved, so the error must not say that nothing was changed.
      let error = SQLiteError(handle)
      throw SQOAuthError(
        .storeFailed,
        "its log cannot be emptied, so it may still contain what was erased (\(error)); erase it "
          + "again", cause: error)
    }
  }

  private func failure() -> SQOAuthError {
    Self.failure(SQLiteError(handle), handle)
  }

  private static func failure(_ error: SQLiteError, _ handle: OpaquePointer?) -> SQOAuthError {
    if error.isDamage {
      return SQOAuthError(
        .storeDamaged, "it is damaged and was not changed (\(error))", cause: error)
    }
    if error.kind == SQLITE_BUSY {
      let holder = handle.flatMap(writer) ?? "another process"
      return SQOAuthError(.storeFailed, "\(holder) keeps it locked (\(error))", cause: error)
    }
    return SQOAuthError(.storeFailed, "it cannot be used (\(error))", cause: error)
  }

  /// Returns the name of the process that holds the write lock; `nil` if it is not known.
  ///
  /// A database with a log is locked in the log's index. A change that bypasses the log locks the
  /// file itself.
  private static func writer(_ handle: OpaquePointer) -> String? {
    guard let path = sqlite3_db_filename(handle, "main").map({ String(cString: $0) }) else {
      return nil
    }
    return LockHolder.name(of: path) ?? LockHolder.name(of: path + "-shm")
  }
}
