import CSQSQLite
import SQBasics
import SQFoundation

/// A value for a parameter of a statement.
enum Value: Redacted {
  case text(String)
  case blob(Data)
  case integer(Int64)
  case null

  static func optional(_ blob: Data?) -> Value { blob.map { .blob($0) } ?? .null }
}

/// A prepared statement at one row of its result.
struct Statement {
  let pointer: OpaquePointer

  /// Binds a value to `?1`, `?2` and so on; returns `false` if SQLite rejects it.
  func bind(_ value: Value, at index: Int32) -> Bool {
    let result =
      switch value {
      case .text(var text):
        // The text is bound with its length, because an account's ID may contain a NUL.
        text.withUTF8 { sq_bind_text(pointer, index, $0.baseAddress, UInt64($0.count)) }
      case .blob(let data):
        data.withUnsafeBytes { sq_bind_blob(pointer, index, $0.baseAddress, UInt64($0.count)) }
      case .integer(let value): sqlite3_bind_int64(pointer, index, value)
      case .null: sqlite3_bind_null(pointer, index)
      }
    return result == SQLITE_OK
  }

  /// Releases the statement's locks and its copies of the values.
  func reset() {
    sqlite3_reset(pointer)
    sqlite3_clear_bindings(pointer)
  }

  func blob(_ column: Int32) -> Data {
    // SQLite requires this order: the pointer first, then the length.
    guard let bytes = sqlite3_column_blob(pointer, column) else { return Data() }
    return Data(bytes: bytes, count: Int(sqlite3_column_bytes(pointer, column)))
  }

  /// Returns the text in a column; `nil` if the value is not valid text.
  func text(_ column: Int32) -> String? {
    guard let bytes = sqlite3_column_text(pointer, column) else { return nil }
    let count = Int(sqlite3_column_bytes(pointer, column))
    return String(validating: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
  }

  func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(pointer, column) }
}
