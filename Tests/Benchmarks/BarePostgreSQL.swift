import CSQPostgreSQL
import FoundationEssentials

/// Saves and loads in PostgreSQL with libpq alone: prepared statements on one connection.
final class BarePostgreSQL: @unchecked Sendable {
  // The samples run one at a time, so `connection` and `value` need no lock.
  private let connection: OpaquePointer
  private var value: [UInt8]

  /// The size of each saved value in bytes.
  var size: Int { value.count }

  init(_ address: String, size: Int) throws {
    guard let connection = PQconnectdb(address), PQstatus(connection) == CONNECTION_OK else {
      throw BenchmarkError("the address in DATABASE leads to no database")
    }
    self.connection = connection
    value = [UInt8](repeating: UInt8(ascii: "x"), count: size)
    PQsetNoticeReceiver(connection, { _, _ in }, nil)
    try execute(
      """
      CREATE TABLE IF NOT EXISTS bare (
        id bytea PRIMARY KEY, version bigint NOT NULL, value bytea NOT NULL,
        server bytea NOT NULL, due timestamptz);
      CREATE INDEX IF NOT EXISTS bare_due ON bare (server, due) WHERE due IS NOT NULL
      """)
    try prepare("upsert", Self.upsert(id: "$1::bytea", value: "$2::bytea"))
    try prepare("select", "SELECT value FROM bare WHERE id = $1::bytea")
  }

  /// Returns the statement that saves a token and the time when its refresh is due.
  static func upsert(id: String, value: String) -> String {
    """
    INSERT INTO bare AS b (id, version, value, server, due)
    VALUES (\(id), 1, \(value), '12345678', clock_timestamp() + interval '1 h')
    ON CONFLICT (id) DO UPDATE SET version = b.version + 1, value = excluded.value,
      server = excluded.server, due = excluded.due
    RETURNING version
    """
  }

  deinit {
    PQfinish(connection)
  }

  func execute(_ sql: String) throws {
    try check(PQexec(connection, sql))
  }

  private func prepare(_ name: String, _ sql: String) throws {
    try check(PQprepare(connection, name, sql, 0, nil))
  }

  private func check(_ result: OpaquePointer?) throws {
    defer { PQclear(result) }
    switch PQresultStatus(result) {
    case PGRES_COMMAND_OK, PGRES_TUPLES_OK: break
    default: throw BenchmarkError(String(cString: PQerrorMessage(connection)))
    }
  }

  func save(_ id: String) throws {
    value[0] &+= 1
    try run("upsert", [Array(id.utf8), value])
  }

  func load(_ id: String) throws {
    try run("select", [Array(id.utf8)])
  }

  private func run(_ name: String, _ values: [[UInt8]]) throws {
    let lengths = values.map { Int32($0.count) }
    let formats = [Int32](repeating: 1, count: values.count)
    let buffer = values.flatMap { $0 }
    try buffer.withUnsafeBytes { bytes in
      let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
      var offset = 0
      let pointers = values.map { value -> UnsafePointer<CChar>? in
        defer { offset += value.count }
        return start.map { $0 + offset }
      }
      try check(
        PQexecPrepared(connection, name, Int32(values.count), pointers, lengths, formats, 1))
    }
  }
}
