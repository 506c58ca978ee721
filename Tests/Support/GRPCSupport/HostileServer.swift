import Foundation
import LoopbackSupport
import SQBasics
import SQLoopback
import SequencingOAuth
import SequencingOAuthGRPC

/// A server on plain sockets that sends whatever a script says, even what no library would send.
///
/// Each connection has its own thread, because its steps block.
final class HostileServer: Sendable {
  /// A function that returns the steps for a connection by its number, which starts at 0.
  typealias Script = @Sendable (Int) -> [Step]

  private struct State {
    var logs: [HostileConnection.Log] = []
    var sockets: Set<Int32> = []
    var isStopped = false
  }

  /// The number of connections whose details are kept.
  private static let keptLogs = 1000

  let port: UInt16
  private let listener: Int32
  private let script: Script
  private let state = Locked(State())

  private init(_ script: @escaping Script) throws {
    let (listener, port) = try Sockets.listen(.ipv4, port: 0)
    // Makes the socket blocking, because the thread waits in `accept` for each connection.
    _ = fcntl(listener, F_SETFL, 0)
    self.listener = listener
    self.port = port
    self.script = script
    guard Threads.start({ [self] in acceptAll() }) else { throw POSIXError(.EAGAIN) }
  }

  /// Runs a body with a server, and stops the server afterwards.
  static func running(
    _ script: @escaping Script, isolation: isolated (any Actor)? = #isolation,
    _ body: (HostileServer) async throws -> Void
  ) async throws {
    let server = try HostileServer(script)
    defer { server.stop() }
    try await body(server)
  }

  /// Runs a body with a server that follows the steps on its first connection, and behaves well on
  /// all others.
  static func once(
    _ steps: [Step], isolation: isolated (any Actor)? = #isolation,
    _ body: (HostileServer) async throws -> Void
  ) async throws {
    try await running({ $0 == 0 ? steps : .good }, body)
  }

  // MARK: The client's actions

  var connectionCount: Int { state.withLock { $0.logs.count } }

  /// Returns what the server received on a connection.
  func log(_ index: Int = 0) -> HostileConnection.Log {
    state.withLock { $0.logs.dropFirst(index).first } ?? HostileConnection.Log()
  }

  // MARK: For clients

  var authority: String { "127.0.0.1:\(port)" }

  func channel(
    scheme: String = "http", options: RPCOptions = .short,
    configuration: HTTPTransportConfiguration = .direct
  ) throws -> RPCChannel {
    guard let url = URL(string: "\(scheme)://\(authority)") else { throw URLError(.badURL) }
    return try RPCChannel(url: url, options: options, configuration: configuration)
  }

  // MARK: Threads

  private func acceptAll() {
    var index = 0
    while let (socket, _) = Sockets.accept(listener) {
      _ = fcntl(socket, F_SETFL, 0)
      Sockets.set(socket, Int32(IPPROTO_TCP), TCP_NODELAY)
      let isTaken = state.withLock { state in
        if state.isStopped { return false }
        state.logs.append(HostileConnection.Log())
        return state.sockets.insert(socket).inserted
      }
      guard isTaken, Threads.start({ [self, index] in serve(socket, index) }) else {
        Sockets.close(socket)
        continue
      }
      index += 1
    }
    Sockets.close(listener)
  }

  private func serve(_ socket: Int32, _ index: Int) {
    let connection = HostileConnection(socket) { change in
      self.state.withLock { if index < Self.keptLogs { change(&$0.logs[index]) } }
    }
    connection.run(script(index))
    // The socket is closed under the lock, so that ``stop()`` cannot shut down another connection
    // that gets the same descriptor.
    state.withLock { state in
      state.sockets.remove(socket)
      state.logs[index].isOver = true
      Sockets.close(socket)
    }
  }

  private func stop() {
    shutdown(listener, Int32(SHUT_RDWR))
    state.withLock { state in
      state.isStopped = true
      for socket in state.sockets { shutdown(socket, Int32(SHUT_RDWR)) }
    }
  }
}

extension RPCOptions {
  /// The default options with short time limits, so that a call that hangs fails soon.
  static var short: Self {
    var options = Self()
    options.timeout = .seconds(60)
    options.streamTimeout = .seconds(60)
    return options
  }
}
