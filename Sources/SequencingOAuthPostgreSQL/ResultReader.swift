import CSQPostgreSQL
import CSQSockets
import SQBasics
import SQLibC

/// A reader of the server's answer to a statement on a connection.
struct ResultReader: ~Copyable {
  /// The socket event that a connection waits for.
  enum Need {
    case reading
    /// A part of the statement is still unsent, and the server may send bytes before it gets the
    /// rest.
    case readingOrWriting

    var events: SocketEvents {
      switch self {
      case .reading: .readable
      case .readingOrWriting: [.readable, .writable]
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
      guard wait(for: need, until: deadline) else { throw .noAnswer }
      try receive()
    }
  }

  /// Blocks the thread until the connection's socket is ready; returns `false` at the deadline.
  func wait(for need: Need, until deadline: ContinuousClock.Instant) -> Bool {
    var polled = [sq_polled(PQsocket(handle), need.events.rawValue)]
    while true {
      let timeout = Monotonic.timeout(until: Monotonic.after(deadline - .now))
      let count = poll(&polled, 1, timeout)
      if count > 0 || timeout == 0 { return count > 0 }
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
