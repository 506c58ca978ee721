import SQHTTP2

/// Lets a call's own thread read the answer, if it is the only call and the server answers fast.
///
/// Waking the loop's thread and then the caller's costs more than a small call. So the caller's
/// thread polls for the answer itself, at most for ``longestWait``, if the previous such call was
/// answered within that time.
///
/// This is only an optimization. Without this file and the lines in ``RPCPeer`` that use it, the
/// loop's thread reads every answer.
struct LoneCalls {
  /// The longest time that a caller's thread polls for an answer, in nanoseconds.
  private static let longestWait: UInt64 = 200_000

  /// The duration of the last call that was the only one, in nanoseconds.
  private var lastTime = UInt64.max
  /// The only call under way, with its start time.
  private var current: (stream: ObjectIdentifier, start: UInt64)?

  /// Records a call that was just sent, if it is the only one.
  ///
  /// Returns the time until which the call's thread may poll for the answer; `nil` if it must not.
  mutating func begin(_ stream: RPCStream, on connection: RPCConnection) -> UInt64? {
    guard current == nil, connection.hasOnly(stream) else { return nil }
    let now = SocketLoop.now()
    current = (ObjectIdentifier(stream), now)
    return lastTime < Self.longestWait ? now + Self.longestWait : nil
  }

  /// Records that calls have ended.
  mutating func ended(_ streams: [RPCStream]) {
    guard let (stream, start) = current,
      streams.contains(where: { ObjectIdentifier($0) == stream })
    else { return }
    lastTime = SocketLoop.now() - start
    current = nil
  }
}

extension RPCPeer {
  /// Polls for the answer to an attempt on this thread, if it is the only attempt.
  func lookForAnswer(to stream: RPCStream) {
    guard let (socket, end) = beginAlone(stream) else { return }
    var isOver = false
    while !isOver, SocketLoop.now() < end {
      guard SocketIO.isReadable(socket) else { continue }
      act { state in
        let connection = state.connection(on: socket)
        _ = connection?.read()
        isOver = stream.result != nil || connection == nil
        if isOver { connection?.watchAgain() }
      }
    }
    if !isOver { act { $0.connection(on: socket)?.watchAgain() } }
  }

  /// Stops the loop from watching the socket, if an attempt is the only one and may poll.
  private func beginAlone(_ stream: RPCStream) -> (socket: Int32, end: UInt64)? {
    var alone: (Int32, UInt64)?
    act { state in
      guard let connection = state.current, let end = state.lone.begin(stream, on: connection)
      else {
        return
      }
      connection.rest()
      alone = (connection.socket, end)
    }
    return alone
  }
}
