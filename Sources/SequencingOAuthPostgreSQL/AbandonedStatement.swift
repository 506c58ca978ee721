import CSQPostgreSQL
import CSQSockets
import SQBasics

/// The way to close a connection whose statement still runs on the server.
///
/// While a statement waits, for example for a lock, the server does not notice that its client has
/// gone: the session stays, counts among `max_connections`, and executes the statement later. So
/// the statement is cancelled before the connection is closed. PgBouncer finds the statement of a
/// cancel request only while the connection is open.
enum AbandonedStatement {
  /// The most cancel requests at a time; further connections are closed without a cancel request.
  private static let limit = 16
  /// The time after which a connection is closed even if its cancel request has not ended.
  private static let patience = Duration.seconds(5)
  /// The number of cancel requests under way.
  private static let count = Locked(0)

  /// Cancels the statement of a connection and closes the connection; returns at once.
  ///
  /// The caller must not use libpq's `connection` any more.
  static func end(_ connection: OpaquePointer) {
    let isCancelled = OneShot<Void>()
    guard start(connection, isCancelled) else {
      PQfinish(connection)
      return
    }
    nonisolated(unsafe) let handle = connection
    Task {
      _ = await isCancelled.wait(until: .now + patience)
      PQfinish(handle)
    }
  }

  /// Starts a cancel request that resolves `end` when it ends; returns `false` if it cannot start.
  ///
  /// The request has its own thread, because libpq blocks it until the server has answered. Without
  /// an answer, the thread ends when the system ends the request's connection.
  private static func start(_ connection: OpaquePointer, _ end: OneShot<Void>) -> Bool {
    let mayStart = count.withLock { count in
      guard count < limit else { return false }
      count += 1
      return true
    }
    guard mayStart else { return false }
    if let request = PQgetCancel(connection) {
      nonisolated(unsafe) let pending = request
      let hasStarted = Threads.start {
        send(pending)
        PQfreeCancel(pending)
        count.withLock { $0 -= 1 }
        end.resolve(())
      }
      if hasStarted { return true }
      PQfreeCancel(request)
    }
    count.withLock { $0 -= 1 }
    return false
  }

  private static func send(_ request: OpaquePointer) {
    // If the server is gone, writing to the socket raises SIGPIPE: `PQcancel` does not prevent it.
    sq_block_signals()
    var message = [CChar](repeating: 0, count: messageSize)
    PQcancel(request, &message, Int32(messageSize))
  }

  /// The size that libpq recommends for an error message.
  private static let messageSize = 256
}
