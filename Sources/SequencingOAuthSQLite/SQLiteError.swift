import CSQSQLite
import SQBasics

/// A result code of SQLite with SQLite's own text, without any stored value.
struct SQLiteError: Error, CustomStringConvertible {
  /// SQLite's extended result code.
  let code: Int32
  /// The system's `errno` that led to the failure, or 0.
  let errno: Int32

  init(code: Int32, errno: Int32) {
    self.code = code
    self.errno = errno
  }

  /// Reads the latest error of a connection.
  init(_ connection: OpaquePointer?) {
    code = sqlite3_extended_errcode(connection)
    errno = sqlite3_system_errno(connection)
  }

  /// The primary result code, without the details of the extended code.
  var kind: Int32 { code & 0xff }

  /// Whether the error means that the database is damaged.
  var isDamage: Bool {
    // SQLITE_ERROR means a table or a column that does not exist.
    [SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_ERROR].contains(kind)
  }

  var description: String {
    let text = sqlite3_errstr(code).map { String(cString: $0) } ?? "unknown error"
    let isOfTheSystem = [SQLITE_IOERR, SQLITE_CANTOPEN, SQLITE_FULL].contains(kind) && errno != 0
    return "SQLite: \(text)" + (isOfTheSystem ? ", \(CLibrary.meaning(of: errno))" : "")
  }
}
