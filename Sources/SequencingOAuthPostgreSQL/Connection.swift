import CSQPostgreSQL
import SQBasics
import SQLibC
import SequencingOAuth

/// A connection to the database, used by one call at a time.
final class Connection: @unchecked Sendable {
  // Only the call that took the connection from the pool, or the listener, uses these properties.
  private let handle: OpaquePointer
  /// The loop that waits for the socket.
  private let loop: EventLoop
  /// The names of the statements that are prepared.
  private var prepared: Set<String> = []
  /// Whether a connection pooler is between this program and the server.
  ///
  /// If so, each transaction may run in a different session of the server. Nothing may then depend
  /// on the session: no prepared statements and no `LISTEN`.
  let isPooled: Bool

  /// The time limit for the first statement on a connection.
  private static let greetingTime = Duration.seconds(5)

  /// Connects to the database; each server in the settings has `connect_timeout` to answer.
  ///
  /// Blocks the thread, including while the server's name is looked up.
  init(_ settings: ConnectionSettings) throws(PostgreSQLError) {
    guard let loop = EventLoop.shared else { throw .noLoop }
    self.loop = loop
    let pairs = settings.values.map { ($0.key, $0.value) }
    let handle = Self.withCStrings(pairs.map(\.0)) { keywords in
      Self.withCStrings(pairs.map(\.1)) { PQconnectdbParams(keywords, $0, 0) }
    }
    guard let handle, PQstatus(handle) == CONNECTION_OK, PQsetnonblocking(handle, 1) == 0 else {
      let error = PostgreSQLError(connection: handle)
      PQfinish(handle)
      throw error
    }
    // By default, libpq prints the server's notices to standard error.
    PQsetNoticeReceiver(handle, { _, _ in }, nil)
    self.handle = handle
    do throws(PostgreSQLError) {
      isPooled = try Self.isPooled(handle)
    } catch {
      PQfinish(handle)
      throw error
    }
  }

  deinit {
    // The time limit of a call may have passed during its statement.
    if PQtransactionStatus(handle) == PQTRANS_ACTIVE {
      AbandonedStatement.end(handle)
    } else {
      PQfinish(handle)
    }
  }

  /// Whether the connection works, with no statement and no transaction under way.
  var isAtRest: Bool { PQtransactionStatus(handle) == PQTRANS_IDLE }

  /// Returns whether the server's process number differs from the number that libpq received.
  ///
  /// A pooler sends its client an invented number when the client connects.
  ///
  /// If there is no pooler, the same statement sets `client_connection_check_interval`, unless the
  /// administrator has set it. The server then checks every 10 s whether the client of a running
  /// statement still exists, because a process that was killed cannot cancel its statement.
  /// PostgreSQL has this setting from version 14 on, on systems that can report a closed socket.
  private static func isPooled(_ handle: OpaquePointer) throws(PostgreSQLError) -> Bool {
    let own = PQbackendPID(handle)
    let (number, setting) = ("pg_catalog.pg_backend_pid()", "'client_connection_check_interval'")
    let watches = """
      CASE WHEN \(number) = \(own) AND pg_catalog.current_setting(\(setting), true) = '0'
        THEN pg_catalog.set_config(\(setting), '10s', false) END
      """
    do throws(PostgreSQLError) {
      return try first(handle, "SELECT \(number), \(watches)") != Int64(own)
    } catch {
      guard error.state != nil, !error.endsConnection else { throw error }
      return try first(handle, "SELECT \(number)") != Int64(own)
    }
  }

  /// Runs the first statement on a connection and returns the number in the first column.
  private static func first(
    _ handle: OpaquePointer, _ text: String
  ) throws(PostgreSQLError) -> Int64? {
    guard PQsendQueryParams(handle, text, 0, nil, nil, nil, nil, 1) != 0 else {
      throw PostgreSQLError(connection: handle)
    }
    var reader = ResultReader(handle)
    try reader.readAll(until: .now + greetingTime)
    return try reader.rows().first?.integer(0)
  }

  /// Runs a closure with C strings that are valid during the call, followed by `nil`.
  static func withCStrings<Value>(
    _ texts: [String], _ body: ([UnsafePointer<CChar>?]) -> Value
  ) -> Value {
    let copies = texts.map { strdup($0) }
    defer { copies.forEach { free($0) } }
    return body(copies.map { UnsafePointer($0) } + [nil])
  }

  // MARK: Statements

  /// Runs a statement and returns its rows.
  ///
  /// After the deadline, it sends nothing, so that the connection stays usable.
  func answer(
    _ statement: SQLStatement, _ values: [SQLValue], until deadline: ContinuousClock.Instant
  ) async throws(PostgreSQLError) -> [SQLRow] {
    if needsPreparing(statement) {
      guard ContinuousClock.now < deadline else { throw .late }
      try prepare(statement)
      _ = try await readAnswer(until: deadline)
      prepared.insert(statement.name)
    }
    guard ContinuousClock.now < deadline else { throw .late }
    try send(statement, values)
    return try await readAnswer(until: deadline)
  }

  /// Runs several statements without values in one transaction.
  func answer(
    script: String, until deadline: ContinuousClock.Instant
  ) async throws(PostgreSQLError) {
    guard ContinuousClock.now < deadline else { throw .late }
    guard PQsendQuery(handle, script) != 0 else { throw PostgreSQLError(connection: handle) }
    _ = try await readAnswer(until: deadline)
  }

  private func readAnswer(
    until deadline: ContinuousClock.Instant
  ) async throws(PostgreSQLError) -> [SQLRow] {
    var reader = ResultReader(handle)
    while let need = reader.advance() {
      let end = Monotonic.after(deadline - .now)
      let wait = SocketWait(PQsocket(handle), for: need.events, until: end, on: loop)
      guard await wait.result() else { throw .noAnswer }
      try reader.receive()
    }
    return try reader.rows()
  }

  /// Starts to wait for bytes from the server, at most until `end`.
  func waitForNotifications(until end: ContinuousClock.Instant) -> SocketWait {
    SocketWait(PQsocket(handle), until: Monotonic.after(end - .now), on: loop)
  }

  /// Runs a statement and returns its rows; blocks the thread.
  func run(
    _ statement: SQLStatement, _ values: [SQLValue], until deadline: ContinuousClock.Instant
  ) throws(PostgreSQLError) -> [SQLRow] {
    if needsPreparing(statement) {
      try prepare(statement)
      _ = try readHere(until: deadline)
      prepared.insert(statement.name)
    }
    try send(statement, values)
    return try readHere(until: deadline)
  }

  /// Runs several statements without values in one transaction; blocks the thread.
  func run(script: String, until deadline: ContinuousClock.Instant) throws(PostgreSQLError) {
    guard PQsendQuery(handle, script) != 0 else { throw PostgreSQLError(connection: handle) }
    _ = try readHere(until: deadline)
  }

  private func readHere(
    until deadline: ContinuousClock.Instant
  ) throws(PostgreSQLError) -> [SQLRow] {
    var reader = ResultReader(handle)
    try reader.readAll(until: deadline)
    return try reader.rows()
  }

  /// Returns the texts of the notices that have arrived, without waiting.
  func notifications() throws(PostgreSQLError) -> [String] {
    guard PQconsumeInput(handle) != 0 else { throw PostgreSQLError(connection: handle) }
    var texts: [String] = []
    while let notice = PQnotifies(handle) {
      if let text = notice.pointee.extra { texts.append(String(cString: text).streamSafe) }
      PQfreemem(notice)
    }
    return texts
  }

  // MARK: Sending

  private func needsPreparing(_ statement: SQLStatement) -> Bool {
    !isPooled && !prepared.contains(statement.name)
  }

  private func prepare(_ statement: SQLStatement) throws(PostgreSQLError) {
    guard PQsendPrepare(handle, statement.name, statement.text, 0, nil) != 0 else {
      throw PostgreSQLError(connection: handle)
    }
  }

  private func send(_ statement: SQLStatement, _ values: [SQLValue]) throws(PostgreSQLError) {
    let sent = values.map(\.sent)
    // All values are in one buffer, so that the pointers into it are valid at the same time.
    let buffer = sent.compactMap(\.?.bytes).joined() + [0]
    let lengths = sent.map { Int32($0?.bytes.count ?? 0) }
    let formats = sent.map { Int32($0?.isBinary ?? false ? 1 : 0) }
    let count = Int32(sent.count)
    let isSent = buffer.withUnsafeBytes { bytes in
      let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
      var offset = 0
      let pointers = sent.map { value -> UnsafePointer<CChar>? in
        guard let value else { return nil }
        defer { offset += value.bytes.count }
        return start.map { $0 + offset }
      }
      return isPooled
        ? PQsendQueryParams(
          handle, statement.text, count, nil, pointers, lengths, formats, 1) != 0
        : PQsendQueryPrepared(handle, statement.name, count, pointers, lengths, formats, 1) != 0
    }
    guard isSent else { throw PostgreSQLError(connection: handle) }
  }
}
