import SQBasics

/// A port of 127.0.0.1 that refuses connections until the process ends.
///
/// A socket is bound to the port and does not listen, so no server of another test can get it. The
/// socket outlives this object, because Swift may release an object after its last use.
package struct ClosedPort {
  private static let sockets = Locked<[BoundSocket]>([])

  package let number: UInt16

  package init() throws {
    let socket = try BoundSocket()
    number = socket.port
    Self.sockets.withLock { $0.append(socket) }
  }
}
