import SQBasics

/// The ways to end a connection: after the last response, after a pause for the client, or at once.
extension Connection {
  /// The time limits for a client after the response: for a pause in its bytes, and in total.
  private static let lingerTime: (silent: Duration, total: Duration) = (.seconds(5), .seconds(30))

  /// Ends the server's side of the connection, and waits until the client ends the other side.
  func finishSending(now: UInt64) {
    // If the client has finished or the server is stopping, there is nothing to wait for.
    guard !isStopping, !peerHasFinished else { return closeInOrder() }
    Sockets.finishSending(socket)
    linger(until: Monotonic.after(Self.lingerTime.total, from: now), now: now)
  }

  func linger(until end: UInt64, now: UInt64) {
    phase = .lingering(until: end)
    deadline = min(Monotonic.after(Self.lingerTime.silent, from: now), end)
  }

  /// Ends the connection because the server stops; a running handler may still answer.
  func stop() {
    isStopping = true
    switch phase {
    case .handling: break
    case .reading, .closing:
      phase = .closing
      if output.isEmpty { closeInOrder() }
    case .scripted, .lingering, .closed: closeInOrder()
    }
  }

  /// Reads what has arrived, then closes: closing with unread bytes would send a reset.
  private func closeInOrder() {
    withUnsafeTemporaryAllocation(byteCount: 16 * 1024, alignment: 1) { scratch in
      var reads = 0
      while reads < 64, case .bytes = SocketIO.receive(socket, into: scratch) { reads += 1 }
    }
    close()
  }

  func close() {
    end(Sockets.close)
  }

  func reset() {
    end(Sockets.reset)
  }

  private func end(_ closing: (Int32) -> Void) {
    guard !isClosed else { return }
    if case .handling(let task) = phase { task.cancel() }
    phase = .closed
    deadline = Monotonic.never
    context.loop.forget(socket)
    closing(socket)
  }
}
