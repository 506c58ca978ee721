/// A port of 127.0.0.1 that refuses connections while this object exists.
///
/// A socket is bound to the port and does not listen, so no server of another test can get it.
package final class ClosedPort: Sendable {
  private let socket: BoundSocket

  package init() throws {
    socket = try BoundSocket()
  }

  package var number: UInt16 { socket.port }
}
