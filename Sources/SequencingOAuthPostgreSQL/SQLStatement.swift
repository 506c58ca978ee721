import CSQPostgreSQL
import SQBasics
import SQCrypto
import SQFoundation
import SequencingOAuth

/// An SQL statement; a connection without a pooler prepares it once under its name.
struct SQLStatement: Sendable {
  let name: String
  let text: String

  /// An expression for statements whose changes need not survive a crash of the server.
  ///
  /// The commit then waits neither for the disk nor for a standby.
  static let unsynced = "pg_catalog.set_config('synchronous_commit', 'off', true) IS NOT NULL"

  /// Returns an expression for the time that is the given seconds from now.
  ///
  /// Times are sent as durations from now, because the clock of a host may be wrong.
  static func after(_ seconds: String) -> String {
    "pg_catalog.clock_timestamp() + \(seconds)::double precision * interval '1 s'"
  }

  /// Returns a query for whether the server is not read-only and the role has rights at tables.
  static func canWrite(with rights: KeyValuePairs<String, [String]>) -> String {
    // Rights in one call mean any of them, so each right has its own.
    let checks = rights.flatMap { table, rights in
      rights.map { "AND pg_catalog.has_table_privilege('\(table.doubling("'"))', '\($0)')" }
    }
    return """
      SELECT pg_catalog.current_setting('transaction_read_only') = 'off'
        \(checks.joined(separator: " "))
      """
  }
}

extension String {
  /// Returns the text with each such quote doubled, for SQL text between these quotes.
  ///
  /// The server looks for single bytes. A `Character` may be a quote with a combining mark.
  func doubling(_ quote: Unicode.Scalar) -> String {
    replacingScalar(quote, with: "\(quote)\(quote)")
  }
}

/// A value for a parameter of a statement.
enum SQLValue: Redacted {
  case bytes(Data)
  /// A value in the server's text form, such as a number; it must not contain a NUL.
  case text(String)
  case null

  /// Returns an account's ID as the tables contain it.
  static func id(_ id: String) -> SQLValue { .bytes(Data(id.utf8)) }

  static func integer(_ value: Int64) -> SQLValue { .text(String(value)) }

  /// Returns an array of `bytea`.
  static func array(_ values: [Data]) -> SQLValue {
    // In a quoted element of an array, the backslash must be doubled.
    let texts = values.map { #""\\x"# + Hexadecimal.encode($0) + #"""# }
    return .text("{" + texts.joined(separator: ",") + "}")
  }

  /// Returns an array of `bigint`.
  static func array(_ values: [Int64]) -> SQLValue {
    .text("{" + values.map { String($0) }.joined(separator: ",") + "}")
  }

  static func boolean(_ value: Bool) -> SQLValue { .text(value ? "true" : "false") }

  /// Returns a time in seconds, or `NULL` for `nil`.
  static func seconds(_ value: Double?) -> SQLValue { value.map { .text("\($0)") } ?? .null }

  /// The bytes as libpq sends them, and whether they are in binary form; `nil` for `NULL`.
  var sent: (bytes: [UInt8], isBinary: Bool)? {
    switch self {
    case .bytes(let data): (Array(data), true)
    case .text(let text): (Array(text.utf8) + [0], false)
    case .null: nil
    }
  }
}

/// One row of a result, with its columns in the server's binary format.
struct SQLRow: Redacted {
  private let columns: [Data?]

  init(_ result: OpaquePointer, _ row: Int32) {
    columns = (0..<PQnfields(result)).map { column in
      guard PQgetisnull(result, row, column) == 0, let value = PQgetvalue(result, row, column)
      else { return nil }
      return Data(bytes: value, count: Int(PQgetlength(result, row, column)))
    }
  }

  func bytes(_ column: Int) -> Data? { columns[column] }

  func text(_ column: Int) -> String? {
    columns[column].map { String(decoding: $0, as: UTF8.self) }
  }

  /// Returns a `bigint` or `integer`.
  func integer(_ column: Int) -> Int64? {
    guard let data = columns[column], data.count == 8 || data.count == 4 else { return nil }
    let value = data.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return data.count == 8
      ? Int64(bitPattern: value) : Int64(Int32(bitPattern: UInt32(truncatingIfNeeded: value)))
  }

  /// Returns a `double precision`.
  func number(_ column: Int) -> Double? {
    guard let data = columns[column], data.count == 8 else { return nil }
    return Double(bitPattern: data.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
  }

  func boolean(_ column: Int) -> Bool { columns[column]?.first == 1 }
}
