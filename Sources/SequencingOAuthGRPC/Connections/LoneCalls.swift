import SQHTTP2

/// Lets the thread of a call that is alone read its answer, if the server is near.
///
/// To wake the loop's thread and then the caller's costs more than a small call. So the caller's
/// thread looks for the answer itself, for ``longestWait`` at most, if the last such call was
/// answered within that time.
///
/// This is only a shortcut. Without this file and the lines in ``RPCPeer`` that name it, the loop's
/// thread reads every answer.
struct LoneCalls {
  /// How long a caller's thread looks for an answer, in nanoseconds.
  private static let longestWait: UInt64 = 200_000

  /// How long the last call that was alone took, in nanoseconds.
  private var lastTime = UInt64.max
  /// The call that is alone, with its start.
  private var current: (stream: ObjectIdentifier, start: UInt64)?

  /// Notes a call that was just sent, if it is alone; returns until when its thread may look for the
  /// answer, or `nil` if it must not.
  mutating func begin(_ stream: RPCStream, on connection: RPCConnection) -> UInt64? {
    guard current == nil, connection.hasOnly(stream) else { return nil }
    let now = SocketLoop.now()
    current = (ObjectIdentifier(stream), now)
    return lastTime < Self.longestWait ? now + Self.longestWait : nil
  }

  /// Notes that calls have ended.
  mutating func ended(_ streams: [RPCStream]) {
    guard let (stream, start) = current,
      streams.contains(where: { ObjectIdentifier($0) == stream })
    else { return }
    lastTime = SocketLoop.now() - start
    current = nil
  }
}

extension RPCPeer {
  /// Reads the answer to an attempt on this thread, if the attempt is alone and the server is near.
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

  /// Keeps the loop's thread from the socket of an attempt that is alone.
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
