import SQBasics

/// The handling of a peer's connections and attempts, under its lock.
extension RPCPeer.State {
  // MARK: Finding connections

  func connection(of stream: RPCStream) -> RPCConnection? {
    if let current, current.streams[stream.id] === stream { return current }
    return draining.first { $0.streams[stream.id] === stream }
  }

  func connection(on socket: Int32) -> RPCConnection? {
    if let current, current.socket == socket { return current }
    return draining.first { $0.socket == socket }
  }

  // MARK: Attempts

  /// Adds an attempt, which waits until there is a connection.
  mutating func add(_ stream: RPCStream) {
    // An attempt that was cancelled before it started is not made.
    guard stream.result == nil else { return ended.append(stream) }
    nextCheck = min(nextCheck, stream.deadline)
    waiting.append(stream)
  }

  // MARK: Opening

  /// Returns whether the caller must open a connection now.
  mutating func mustOpen() -> Bool {
    guard !waiting.isEmpty, current == nil else { return false }
    if opening.mayBegin(at: Monotonic.now()) { return true }
    nextCheck = min(nextCheck, opening.due)
    return false
  }

  /// Whether there are no connections and no waiting attempts, so that nothing can become due.
  var isIdle: Bool { current == nil && draining.isEmpty && waiting.isEmpty }

  mutating func begin(_ connection: RPCConnection, for peer: RPCPeer) {
    opening.isUnderWay = false
    guard EventLoop.shared?.watch(connection.socket, for: .readable, by: peer) == true else {
      return cannotOpen(
        RPCCallError(.unavailable, "the system cannot watch another connection"))
    }
    connection.pulse.slowDown(to: pingInterval)
    current = connection
    nextCheck = min(nextCheck, connection.pulse.due)
    connection.flush()
  }

  /// Ends the waiting attempts because no connection could be opened.
  mutating func cannotOpen(_ error: RPCCallError) {
    opening.failed(error, at: Monotonic.now())
    for stream in waiting { stream.end(error) }
    ended += waiting
    waiting = []
  }

  /// Ends the connections and all attempts.
  mutating func endAll(_ error: RPCCallError) {
    current?.fail(error)
    for connection in draining { connection.fail(error) }
    cannotOpen(error)
  }

  // MARK: Collecting results and making attempts

  /// Collects the results of attempts, sets draining connections aside, and makes waiting attempts.
  mutating func settle() {
    while true {
      if let current {
        collect(current)
        if current.isDraining { retire(current) }
      }
      if !draining.isEmpty {
        for connection in draining { collect(connection) }
        draining.removeAll { $0.failure != nil }
      }
      guard let current, current.isReady, !waiting.isEmpty else { return }
      begin(on: current)
    }
  }

  private mutating func begin(on connection: RPCConnection) {
    let streams = waiting
    waiting.removeAll(keepingCapacity: true)
    let now = Monotonic.now()
    for stream in streams where !connection.begin(stream, at: now) { waiting.append(stream) }
    nextCheck = min(nextCheck, connection.pulse.due)
    connection.flush()
  }

  private mutating func collect(_ connection: RPCConnection) {
    // An event may bring the next due time forward: after the answer to a ping, the next ping is
    // due; after the last call, the end of the connection is due.
    nextCheck = min(nextCheck, connection.pulse.due)
    pingInterval = max(pingInterval, connection.pulse.interval)
    if connection.failure != nil { EventLoop.shared?.forget(connection.socket) }
    if !connection.ended.isEmpty {
      ended += connection.ended
      connection.ended.removeAll(keepingCapacity: true)
    }
    if !connection.moved.isEmpty {
      let moved = connection.moved
      connection.moved = []
      for stream in moved { move(stream, from: connection) }
    }
  }

  /// Makes an attempt wait for the next connection; ends it if it was moved too often.
  private mutating func move(_ stream: RPCStream, from connection: RPCConnection) {
    if stream.restart() {
      nextCheck = min(nextCheck, stream.deadline)
      waiting.append(stream)
    } else {
      stream.end(
        connection.failure
          ?? RPCCallError(
            .unavailable,
            "\(connection.authority) refused the call repeatedly: "
              + (connection.farewell ?? "REFUSED_STREAM")))
      ended.append(stream)
    }
  }

  /// Counts a move for each waiting attempt, because the connection ended without any attempt.
  ///
  /// Without this count, attempts without a deadline could wait for ever.
  private mutating func moveWaiting(from connection: RPCConnection) {
    let streams = waiting
    waiting = []
    for stream in streams { move(stream, from: connection) }
  }

  /// Removes the current connection, so that no further attempts use it.
  private mutating func retire(_ connection: RPCConnection) {
    current = nil
    if connection.hasAnswered {
      opening.succeeded()
    } else if let failure = connection.failure, !connection.pulse.isProven {
      // A connection that never spoke HTTP/2 counts as not opened.
      return cannotOpen(failure)
    } else {
      opening.failed(connection.failure, at: Monotonic.now())
    }
    if !connection.hasBegun { moveWaiting(from: connection) }
    if connection.failure == nil { draining.append(connection) }
  }

  // MARK: Time

  /// Does what is due, and computes the next due time.
  mutating func check(at now: UInt64) {
    // This forgets the end of a pause between attempts. The peer calls `mustOpen` afterwards, which
    // sets that time again if a call waits for it.
    nextCheck = .max
    for connection in (current.map { [$0] } ?? []) + draining {
      connection.check(at: now)
      nextCheck = min(nextCheck, connection.due)
    }
    for stream in waiting where stream.deadline <= now { stream.end(opening.timeIsUp) }
    ended += waiting.filter { $0.result != nil }
    waiting.removeAll { $0.result != nil }
    for stream in waiting { nextCheck = min(nextCheck, stream.deadline) }
  }
}
