/// A port of 127.0.0.1 on which connections are refused for as long as this is held.
///
/// It is bound and not listened on, so no other test's server can get it meanwhile.
package final class ClosedPort: Sendable {
  private let socket: BoundSocket

  package init() throws {
    socket = try BoundSocket()
  }

  package var number: UInt16 { socket.port }
}
