import CSQPostgreSQL
import Glibc

/// A reader of the server's answer to a statement on a connection.
struct ResultReader: ~Copyable {
  /// The socket event that a connection waits for.
  enum Need {
    case reading
    /// A part of the statement is still unsent, and the server may send bytes before it gets the
    /// rest.
    case readingOrWriting

    fileprivate var events: Int16 {
      switch self {
      case .reading: Int16(POLLIN)
      case .readingOrWriting: Int16(POLLIN | POLLOUT)
      }
    }
  }

  private let handle: OpaquePointer
  private var last: OpaquePointer?
  private var failure: PostgreSQLError?

  init(_ handle: OpaquePointer) {
    self.handle = handle
  }

  deinit {
    PQclear(last)
  }

  /// Reads the arrived results; returns the event to wait for, or `nil` after the last result.
  mutating func advance() -> Need? {
    while true {
      let unsent = PQflush(handle)
      guard unsent >= 0 else {
        failure = PostgreSQLError(connection: handle)
        return nil
      }
      guard PQisBusy(handle) == 0 else { return unsent > 0 ? .readingOrWriting : .reading }
      guard let result = PQgetResult(handle) else { return nil }
      PQclear(last)
      last = result
      switch PQresultStatus(result) {
      case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY: break
      default: failure = failure ?? PostgreSQLError(result: result)
      }
    }
  }

  /// Receives the bytes that the server has sent, without waiting.
  func receive() throws(PostgreSQLError) {
    guard PQconsumeInput(handle) != 0 else { throw PostgreSQLError(connection: handle) }
  }

  /// Reads the whole answer; blocks the thread.
  mutating func readAll(until deadline: ContinuousClock.Instant) throws(PostgreSQLError) {
    while let need = advance() {
      guard Self.wait(for: handle, need, until: deadline) else { throw .noAnswer }
      try receive()
    }
  }

  /// Returns whether the event that a connection waits for has happened on its socket.
  static func isReady(_ handle: OpaquePointer, _ need: Need) -> Bool {
    var polled = pollfd(fd: PQsocket(handle), events: need.events, revents: 0)
    return poll(&polled, 1, 0) > 0
  }

  /// Blocks the thread until the event on the socket; returns `false` at the deadline.
  static func wait(
    for handle: OpaquePointer, _ need: Need, until deadline: ContinuousClock.Instant
  ) -> Bool {
    var polled = pollfd(fd: PQsocket(handle), events: need.events, revents: 0)
    while true {
      let left = deadline - ContinuousClock.now
      guard left > .zero else { return false }
      // With ppoll(2), because a nearby server answers in less than poll(2)'s unit of 1 ms.
      let part = min(left, .seconds(60)).components
      var time = timespec(
        tv_sec: Int(part.seconds), tv_nsec: Int(part.attoseconds / 1_000_000_000))
      if ppoll(&polled, 1, &time, nil) > 0 { return true }
    }
  }

  /// Returns the rows of the last result; call it after the complete answer was read.
  ///
  /// - Throws: The first error of the answer.
  consuming func rows() throws(PostgreSQLError) -> [SQLRow] {
    if let failure { throw failure }
    guard let last else { throw PostgreSQLError(connection: handle) }
    return (0..<PQntuples(last)).map { SQLRow(last, $0) }
  }
}
