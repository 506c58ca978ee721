import Foundation
import SQBasics

/// A relay from a port of 127.0.0.1 to another one, which a test can silence as a network can.
///
/// A thread of its own moves the bytes. Each method has its effect before it returns.
package final class TCPRelay: Sendable {
  /// What passes a relay.
  package enum Traffic: Sendable {
    case all
    /// Only the clients' bytes: a server gets a request and the client gets no answer.
    case requests
    case nothing
  }

  /// What happens to a request on its way.
  package enum Fault: Sendable, CaseIterable {
    /// The connection is reset, and the server never gets the request.
    case requestIsLost
    /// The connection is reset when the server answers.
    case answerIsLost
    /// The request waits, and with it everything else, until ``TCPRelay/speakAgain()``.
    case requestWaits
  }

  /// How much a relay has done since its start.
  package struct Counters: Sendable, Equatable {
    /// The number of connections that clients opened.
    package internal(set) var accepted = 0
    /// The number of bytes that were written to the server.
    package internal(set) var bytesToServer = 0
    /// The number of bytes that were written to clients.
    package internal(set) var bytesToClients = 0
  }

  private let listener: BoundSocket
  private let loop: RelayLoop

  /// Starts a relay to a port; it ends when its last reference is released.
  package init(to port: UInt16) throws {
    listener = try BoundSocket()
    try listener.listen()
    loop = try RelayLoop(listener: listener, target: port)
    loop.start()
  }

  deinit {
    loop.end()
  }

  /// The port for clients.
  package var port: UInt16 { listener.port }

  /// How much the relay has done.
  package var counters: Counters { loop.state.withLock(\.counters) }

  /// The number of connections now.
  package var openConnections: Int { loop.state.withLock(\.connections.count) }

  /// Lets only some traffic pass from now on.
  ///
  /// Connections stay open, also if one of their ends closes, and new ones are accepted. The rest of
  /// the traffic waits, and passes after ``speakAgain()``.
  package func passThrough(_ traffic: Traffic) { loop.change { $0.traffic = traffic } }

  /// Lets nothing pass from now on, as a cable that is cut.
  package func goSilent() { passThrough(.nothing) }

  /// Lets everything pass again, also what waited.
  package func speakAgain() { passThrough(.all) }

  /// How many requests have come, on all connections.
  package var requests: Int { loop.state.withLock(\.fault.requests) }

  /// Lets a request meet a fault: the next one, if `number` is 1.
  package func expect(_ fault: Fault, atRequest number: Int) {
    loop.change { $0.fault.expect(fault, atRequest: number) }
  }

  /// Whether the fault is still to come.
  package var isFaultExpected: Bool { loop.state.withLock(\.fault.isExpected) }

  /// Whether a client has closed a connection, which the relay passes on only when it speaks again.
  package var isLeft: Bool {
    loop.state.withLock { state in state.connections.contains(where: \.isLeft) }
  }

  /// Ends all connections with a reset at both ends; new connections are possible.
  package func dropConnections() {
    loop.change { state in
      for connection in state.connections { connection.reset() }
      state.connections = []
    }
  }
}
