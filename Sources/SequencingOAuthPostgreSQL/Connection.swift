import Basics
import CPostgreSQL
import Glibc
import SequencingOAuth

/// A connection to the database; one thread uses it, which it may block.
final class Connection {
  private let handle: OpaquePointer
  private var prepared: Set<String> = []
  /// Whether a connection pooler is between this program and the server.
  ///
  /// Then each transaction may run in another session of the server, so nothing may depend on the
  /// session: no prepared statement, and no `LISTEN`.
  let isPooled: Bool

  /// Connects; each server in the settings gets `connect_timeout` to answer.
  ///
  /// The look-up of the server's name blocks too, for as long as the system's resolver takes.
  init(_ settings: ConnectionSettings) throws(PostgreSQLError) {
    let pairs = settings.values.map { ($0.key, $0.value) }
    let handle = Self.withCStrings(pairs.map(\.0)) { keywords in
      Self.withCStrings(pairs.map(\.1)) { PQconnectdbParams(keywords, $0, 0) }
    }
    guard let handle, PQstatus(handle) == CONNECTION_OK, PQsetnonblocking(handle, 1) == 0 else {
      let error = PostgreSQLError(connection: handle)
      PQfinish(handle)
      throw error
    }
    // A notice would go to the program's standard error.
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
    PQfinish(handle)
  }

  /// The socket, for `poll`.
  var socket: Int32 { PQsocket(handle) }

  /// How long the first statement of a connection may take.
  private static let greetingTime = Duration.seconds(5)

  /// Compares the server's process number with the number in the connection's key.
  ///
  /// A pooler makes up the key of its client's connection.
  private static func isPooled(_ handle: OpaquePointer) throws(PostgreSQLError) -> Bool {
    let deadline = ContinuousClock.now + greetingTime
    guard PQsendQuery(handle, "SELECT pg_catalog.pg_backend_pid()") != 0 else {
      throw PostgreSQLError(connection: handle)
    }
    let result = try Self.result(of: handle, until: deadline)
    defer { PQclear(result) }
    let process = PQgetvalue(result, 0, 0).map { String(cString: $0) }
    return process != String(PQbackendPID(handle))
  }

  private static func withCStrings<Value>(
    _ texts: [String], _ body: ([UnsafePointer<CChar>?]) -> Value
  ) -> Value {
    let copies = texts.map { strdup($0) }
    defer { copies.forEach { free($0) } }
    return body(copies.map { UnsafePointer($0) } + [nil])
  }
}

// MARK: - Statements

extension Connection {
  /// Runs a statement and returns its rows.
  func run(
    _ statement: SQLStatement, _ values: [SQLValue], until deadline: ContinuousClock.Instant
  ) throws(PostgreSQLError) -> [SQLRow] {
    try prepare(statement, until: deadline)
    guard send(statement, values) else { throw PostgreSQLError(connection: handle) }
    let result = try Self.result(of: handle, until: deadline)
    defer { PQclear(result) }
    return (0..<PQntuples(result)).map { SQLRow(result, $0) }
  }

  /// Runs several statements without values in one transaction.
  func run(script: String, until deadline: ContinuousClock.Instant) throws(PostgreSQLError) {
    guard PQsendQuery(handle, script) != 0 else { throw PostgreSQLError(connection: handle) }
    PQclear(try Self.result(of: handle, until: deadline))
  }

  /// Takes the texts of the notices that have come, without waiting.
  func notifications() throws(PostgreSQLError) -> [String] {
    guard PQconsumeInput(handle) != 0 else { throw PostgreSQLError(connection: handle) }
    var texts: [String] = []
    while let notice = PQnotifies(handle) {
      if let text = notice.pointee.extra { texts.append(String(cString: text)) }
      PQfreemem(notice)
    }
    return texts
  }

  private func prepare(
    _ statement: SQLStatement, until deadline: ContinuousClock.Instant
  ) throws(PostgreSQLError) {
    guard !isPooled, !prepared.contains(statement.name) else { return }
    guard PQsendPrepare(handle, statement.name, statement.text, 0, nil) != 0 else {
      throw PostgreSQLError(connection: handle)
    }
    PQclear(try Self.result(of: handle, until: deadline))
    prepared.insert(statement.name)
  }

  private func send(_ statement: SQLStatement, _ values: [SQLValue]) -> Bool {
    let sent = values.map(\.sent)
    // One buffer with all values, so that the pointers into it are valid together.
    let buffer = sent.compactMap(\.?.bytes).joined() + [0]
    let lengths = sent.map { Int32($0?.bytes.count ?? 0) }
    let formats = sent.map { Int32($0?.isBinary ?? false ? 1 : 0) }
    let count = Int32(sent.count)
    return buffer.withUnsafeBytes { bytes in
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
  }

  /// Waits for the results of what was sent; returns the last one, or throws the first error.
  private static func result(
    of handle: OpaquePointer, until deadline: ContinuousClock.Instant
  ) throws(PostgreSQLError) -> OpaquePointer {
    var last: OpaquePointer?
    var failure: PostgreSQLError?
    do throws(PostgreSQLError) {
      while let result = try next(of: handle, until: deadline) {
        PQclear(last)
        last = result
        switch PQresultStatus(result) {
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY: break
        default: failure = failure ?? PostgreSQLError(result: result)
        }
      }
    } catch {
      failure = error
    }
    guard failure == nil, let last else {
      PQclear(last)
      throw failure ?? PostgreSQLError(connection: handle)
    }
    return last
  }

  private static func next(
    of handle: OpaquePointer, until deadline: ContinuousClock.Instant
  ) throws(PostgreSQLError) -> OpaquePointer? {
    while true {
      let unsent = PQflush(handle)
      guard unsent >= 0 else { throw PostgreSQLError(connection: handle) }
      guard PQisBusy(handle) != 0 else { return PQgetResult(handle) }
      try wait(for: handle, isSending: unsent > 0, until: deadline)
      guard PQconsumeInput(handle) != 0 else { throw PostgreSQLError(connection: handle) }
    }
  }

  private static func wait(
    for handle: OpaquePointer, isSending: Bool, until deadline: ContinuousClock.Instant
  ) throws(PostgreSQLError) {
    let events = Int16(isSending ? POLLIN | POLLOUT : POLLIN)
    var polled = pollfd(fd: PQsocket(handle), events: events, revents: 0)
    while true {
      let left = deadline - ContinuousClock.now
      guard left > .zero else { throw PostgreSQLError(.timedOut, "it gave no answer in time") }
      let milliseconds = (left / .milliseconds(1)).rounded(.up)
      if poll(&polled, 1, Int32(min(milliseconds, 60_000))) > 0 { return }
    }
  }
}
