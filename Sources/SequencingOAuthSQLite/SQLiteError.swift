import Basics
import CSQLite

/// A result code of SQLite, in its own words, which never have a value in them.
struct SQLiteError: Error, CustomStringConvertible {
  /// The extended result code.
  let code: Int32
  /// The system's error below it, or 0.
  let errno: Int32

  /// The latest failure of a connection.
  init(_ connection: OpaquePointer?) {
    code = sqlite3_extended_errcode(connection)
    errno = sqlite3_system_errno(connection)
  }

  /// The kind of failure, without its details.
  var kind: Int32 { code & 0xff }

  /// Whether the content is not what SQLite, and this store in it, would have written.
  var isDamage: Bool {
    // SQLITE_ERROR is a table or a column that is not there.
    [SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_ERROR].contains(kind)
  }

  var description: String {
    let text = sqlite3_errstr(code).map { String(cString: $0) } ?? "unknown error"
    let isOfTheSystem = [SQLITE_IOERR, SQLITE_CANTOPEN, SQLITE_FULL].contains(kind) && errno != 0
    return "SQLite: \(text)" + (isOfTheSystem ? ", \(CLibrary.meaning(of: errno))" : "")
  }
}
