import Basics
import HTTP2
package import LoopbackHTTP

/// An HTTP/2 server for programs on the same machine, without TLS.
///
/// It passes on each request when it is complete, on the thread of `SocketLoop`: the handler must
/// return at once, and may answer later, from any thread.
package final class HTTP2Server: SocketOwner {
  package typealias Handler = @Sendable (HTTP2Exchange) -> Void

  private struct State {
    var listener: Int32
    var connections: [Int32: HTTP2ServerConnection] = [:]
  }

  /// The largest number of connections; a further one is closed at once.
  private static let maximumConnections = 64

  /// The port at which the server listens.
  package let port: UInt16
  private let handler: Handler
  private let state: Locked<State>

  /// Starts a server at a port of `127.0.0.1`, or at any that is free; it runs until ``stop()``.
  ///
  /// - Throws: `LoopbackError` if the port is taken, or the system has no socket or thread.
  package init(port: UInt16 = 0, handler: @escaping Handler) throws(LoopbackError) {
    let (listener, port) = try Sockets.listen(.ipv4, port: port)
    self.port = port
    self.handler = handler
    state = Locked(State(listener: listener))
    guard SocketLoop.shared?.watch(listener, for: self) == true else {
      Sockets.close(listener)
      throw .system(errno: 0)
    }
  }

  /// Closes the server and its connections; what is under way is lost.
  package func stop() {
    let sockets = state.withLock { state in
      defer {
        state.connections = [:]
        state.listener = -1
      }
      return [state.listener].filter { $0 >= 0 } + state.connections.keys
    }
    for socket in sockets {
      SocketLoop.shared?.forget(socket)
      Sockets.close(socket)
    }
  }

  // MARK: What the network brings

  package func socketIsReady(_ socket: Int32) {
    if state.withLock({ $0.listener == socket }) {
      acceptAll(socket)
    } else {
      act(on: socket) { $0.read() }
    }
  }

  package func timeIsDue() {}
  package func isCalled() {}

  private func acceptAll(_ listener: Int32) {
    while let accepted = Sockets.accept(listener) {
      let isTaken = state.withLock { state in
        guard state.listener == listener, state.connections.count < Self.maximumConnections,
          let connection = HTTP2ServerConnection(accepted.socket, server: self)
        else { return false }
        state.connections[accepted.socket] = connection
        return true
      }
      guard isTaken, SocketLoop.shared?.watch(accepted.socket, for: self) == true else {
        _ = state.withLock { $0.connections.removeValue(forKey: accepted.socket) }
        Sockets.close(accepted.socket)
        continue
      }
      act(on: accepted.socket) { $0.read() }
    }
  }

  // MARK: One step

  /// Does something on a connection, sends what came of it, and passes on complete requests.
  func act(on socket: Int32, _ body: (HTTP2ServerConnection) -> Void) {
    let (arrived, closed) = state.withLock { state -> ([HTTP2Exchange], [HTTP2Exchange]) in
      guard let connection = state.connections[socket] else { return ([], []) }
      body(connection)
      connection.flush()
      if connection.isClosed {
        state.connections[socket] = nil
        SocketLoop.shared?.forget(socket)
        Sockets.close(socket)
      }
      return connection.takeNews()
    }
    for exchange in closed { exchange.closing.raise() }
    for exchange in arrived { handler(exchange) }
  }
}
