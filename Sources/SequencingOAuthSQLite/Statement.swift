import Basics
import CSQLite

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A value for a placeholder.
enum Value: Redacted {
  case text(String)
  case blob(Data)
  case null

  static func optional(_ blob: Data?) -> Value { blob.map { .blob($0) } ?? .null }
}

/// A prepared statement, and the row that it is at.
struct Statement {
  let pointer: OpaquePointer

  /// Puts a value in the place of `?1`, `?2`, …; false where it failed.
  func bind(_ value: Value, at index: Int32) -> Bool {
    let result =
      switch value {
      case .text(var text):
        // With its length, since a NUL ends no account's name.
        text.withUTF8 { sq_bind_text(pointer, index, $0.baseAddress, UInt64($0.count)) }
      case .blob(let data):
        data.withUnsafeBytes { sq_bind_blob(pointer, index, $0.baseAddress, UInt64($0.count)) }
      case .null: sqlite3_bind_null(pointer, index)
      }
    return result == SQLITE_OK
  }

  /// Lets go of locks and of copies of the values.
  func reset() {
    sqlite3_reset(pointer)
    sqlite3_clear_bindings(pointer)
  }

  func blob(_ column: Int32) -> Data {
    // The order is SQLite's: the pointer first, then how long it is.
    guard let bytes = sqlite3_column_blob(pointer, column) else { return Data() }
    return Data(bytes: bytes, count: Int(sqlite3_column_bytes(pointer, column)))
  }

  /// `nil` where it is no text.
  func text(_ column: Int32) -> String? {
    guard let bytes = sqlite3_column_text(pointer, column) else { return nil }
    let count = Int(sqlite3_column_bytes(pointer, column))
    return String(validating: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
  }

  func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(pointer, column) }
}
