package import SQBasics
package import SQLoopback

/// An HTTP/2 server for programs on the same machine, without TLS.
///
/// It calls the handler when a request's header fields have arrived, on the thread of
/// `EventLoop.shared`. The handler must return at once, and may answer later from any thread.
package final class HTTP2Server: EventHandler {
  package typealias Handler = @Sendable (HTTP2Exchange) -> Void

  private struct State {
    /// The socket that accepts connections; negative after the server has stopped.
    var listener: Int32
    var connections: [Int32: HTTP2ServerConnection] = [:]
    var lastNumber: UInt64 = 0
    /// A time that is not later than the deadline of any connection.
    var nextDeadline = UInt64.max
    /// The time at which the server accepts connections again after a pause; `.max` without a
    /// pause.
    var acceptsAgain = UInt64.max
    /// A value that is resolved when the last connection is closed; `nil` until the server stops.
    var isEmptied: OneShot<Void>?
  }

  /// The maximum number of connections to accept before the loop's other sockets get their turn.
  private static let turns = 64
  /// The pause in accepting connections after a failure, such as no free descriptor, in
  /// nanoseconds.
  private static let acceptPause: UInt64 = 100_000_000

  /// The port that the server listens on.
  package let port: UInt16
  private let limits: HTTP2ServerLimits
  private let handler: Handler
  private let state: Locked<State>

  /// Starts a server at `127.0.0.1`, which runs until ``stop()``.
  ///
  /// - Parameters:
  ///   - port: The port, or 0 for any free port.
  ///   - limits: The limits on the clients.
  ///   - handler: Called once for each request.
  /// - Throws: `LoopbackError` if the port cannot be used.
  package init(
    port: UInt16 = 0, limits: HTTP2ServerLimits = HTTP2ServerLimits(), handler: @escaping Handler
  ) throws(LoopbackError) {
    let (listener, port) = try Sockets.listen(.ipv4, port: port)
    self.port = port
    self.limits = limits
    self.handler = handler
    state = Locked(State(listener: listener))
    guard EventLoop.shared?.watch(listener, for: .readable, by: self) == true else {
      Sockets.closeListener(listener)
      throw .unwatched
    }
  }

  // MARK: Stopping

  /// Closes the port and all connections at once; requests under way are lost.
  package func stop() {
    closeListener()
    endAll { $0.close() }
  }

  /// Closes the port, gives the requests under way `grace` to end, then closes all connections.
  package func stop(within grace: Duration) async {
    closeListener()
    let isEmptied = state.withLock { state in
      let isEmptied = state.isEmptied ?? OneShot()
      state.isEmptied = isEmptied
      if state.connections.isEmpty { isEmptied.resolve(()) }
      return isEmptied
    }
    endAll { $0.shutDown() }
    _ = await isEmptied.wait(until: .now + grace.bounded)
    endAll { $0.close() }
  }

  private func closeListener() {
    state.withLock { state in
      guard state.listener >= 0 else { return }
      EventLoop.shared?.forget(state.listener)
      Sockets.closeListener(state.listener)
      state.listener = -1
      state.acceptsAgain = .max
    }
  }

  private func endAll(_ body: (HTTP2ServerConnection) -> Void) {
    let places = state.withLock { $0.connections.values.map(\.place) }
    for place in places { act(at: place, body) }
  }

  // MARK: Network events

  package func socketsAreReady(_ sockets: ArraySlice<ReadySocket>) {
    for ready in sockets { handle(ready.socket) }
  }

  private func handle(_ socket: Int32) {
    let (isListener, place) = state.withLock {
      ($0.listener == socket, $0.connections[socket]?.place)
    }
    if isListener { acceptArrived(socket) }
    if let place { act(at: place) { $0.read() } }
  }

  /// Accepts the connections that have arrived, up to a limit, so that others get their turn.
  private func acceptArrived(_ listener: Int32) {
    for _ in 0..<Self.turns {
      guard let accepted = Sockets.accept(listener) else {
        if !Sockets.acceptsAtOnce { pauseAccepting(listener) }
        return
      }
      makeRoom()
      let place = state.withLock { state -> HTTP2ServerConnection.Place? in
        state.lastNumber += 1
        let place = HTTP2ServerConnection.Place(socket: accepted.socket, number: state.lastNumber)
        guard state.listener == listener, state.connections.count < limits.connections,
          let connection = HTTP2ServerConnection(place, server: self, limits: limits),
          EventLoop.shared?.watch(accepted.socket, for: .readable, by: self) == true
        else {
          Sockets.close(accepted.socket)
          return nil
        }
        state.connections[accepted.socket] = connection
        return place
      }
      if let place { act(at: place) { $0.read() } }
    }
  }

  /// Closes the connection that has had no request for the longest time, if too many are open.
  private func makeRoom() {
    let place = state.withLock { state -> HTTP2ServerConnection.Place? in
      guard state.connections.count >= limits.connections else { return nil }
      let oldest = state.connections.values.min { $0.deadline < $1.deadline }
      return oldest.flatMap { $0.deadline == .max ? nil : $0.place }
    }
    if let place { act(at: place) { $0.close() } }
  }

  /// Stops accepting connections for a short time.
  ///
  /// While accepting fails, the listener stays ready, and the loop would spin.
  private func pauseAccepting(_ listener: Int32) {
    state.withLock { state in
      guard state.listener == listener else { return }
      EventLoop.shared?.forget(listener)
      state.acceptsAgain = Monotonic.now() + Self.acceptPause
      wake(state)
    }
  }

  // MARK: Time

  package func timeIsDue() {
    let now = Monotonic.now()
    let overdue = state.withLock { state in
      if state.acceptsAgain <= now {
        state.acceptsAgain = .max
        _ = EventLoop.shared?.watch(state.listener, for: .readable, by: self)
      }
      return state.connections.values.filter { $0.deadline <= now }.map(\.place)
    }
    for place in overdue { act(at: place) { $0.timeOut() } }
    state.withLock { state in
      state.nextDeadline = state.connections.values.map(\.deadline).min() ?? .max
      wake(state)
    }
  }

  private func wake(_ state: State) {
    EventLoop.shared?.call(self, at: min(state.nextDeadline, state.acceptsAgain))
  }

  // MARK: Acting on a connection

  /// Runs a closure on a connection under the lock, sends the connection's output, then reports
  /// what happened.
  ///
  /// Returns `false` if the connection is already closed.
  @discardableResult
  func act(
    at place: HTTP2ServerConnection.Place, _ body: (HTTP2ServerConnection) -> Void
  ) -> Bool {
    let news = state.withLock { state -> HTTP2ServerNews? in
      guard let connection = state.connections[place.socket], connection.place == place else {
        return nil
      }
      body(connection)
      connection.flush()
      if connection.isClosed {
        close(connection, &state)
      } else if connection.deadline < state.nextDeadline {
        state.nextDeadline = connection.deadline
        wake(state)
      }
      return connection.takeNews()
    }
    news?.spread(handler)
    return news != nil
  }

  private func close(_ connection: HTTP2ServerConnection, _ state: inout State) {
    let socket = connection.place.socket
    state.connections[socket] = nil
    EventLoop.shared?.forget(socket)
    Sockets.close(socket)
    guard state.connections.isEmpty else { return }
    state.isEmptied?.resolve(())
    state.nextDeadline = .max
    wake(state)
  }
}
