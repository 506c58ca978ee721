import Foundation
import SQBasics

/// A relay between two ports of 127.0.0.1 that a test can silence as a network can.
///
/// Its own thread moves the bytes. Each method has its effect before it returns.
package final class TCPRelay: Sendable {
  /// The traffic that passes a relay.
  package enum Traffic: Sendable {
    case all
    /// Only the clients' bytes pass: a server gets a request, but the client gets no answer.
    case requests
    case nothing
  }

  /// A fault that a request meets on its way.
  package enum Fault: Sendable, CaseIterable {
    /// The connection is reset, and the server never gets the request.
    case requestIsLost
    /// The connection is reset when the server answers.
    case answerIsLost
    /// The request waits, together with all other traffic, until ``TCPRelay/speakAgain()``.
    case requestWaits
  }

  /// The counts of a relay since its start.
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

  /// Starts a relay to a port; the relay ends when its last reference is released.
  ///
  /// After `answerLimit` bytes from the server, a connection stays open, but its client gets no
  /// more of them.
  package init(to port: UInt16, answerLimit: Int = .max) throws {
    listener = try BoundSocket()
    try listener.listen()
    loop = try RelayLoop(listener: listener, target: port, answerLimit: answerLimit)
    loop.start()
  }

  deinit {
    loop.end()
  }

  /// The port for clients.
  package var port: UInt16 { listener.port }

  /// The counts so far.
  package var counters: Counters { loop.state.withLock(\.counters) }

  /// The number of open connections.
  package var openConnections: Int { loop.state.withLock(\.connections.count) }

  /// Passes only some of the traffic from now on.
  ///
  /// Connections stay open, even if one of their ends closes, and new ones are accepted. The rest
  /// of the traffic waits, and passes after ``speakAgain()``.
  package func passThrough(_ traffic: Traffic) { loop.change { $0.traffic = traffic } }

  /// Passes nothing from now on, like a cable that is cut.
  package func goSilent() { passThrough(.nothing) }

  /// Passes everything again, including the traffic that waited.
  package func speakAgain() { passThrough(.all) }

  /// The number of requests that have come on all connections.
  package var requests: Int { loop.state.withLock(\.fault.requests) }

  /// Makes a request meet a fault: the next one if `number` is 1.
  package func expect(_ fault: Fault, atRequest number: Int) {
    loop.change { $0.fault.expect(fault, atRequest: number) }
  }

  /// Whether the fault is still to happen.
  package var isFaultExpected: Bool { loop.state.withLock(\.fault.isExpected) }

  /// Whether a client has closed a connection, even if the relay tells the server only after
  /// ``speakAgain()``.
  package var isLeft: Bool {
    loop.state.withLock { state in state.connections.contains(where: \.isLeft) }
  }

  /// Resets all connections at both ends.
  ///
  /// New connections are possible.
  package func dropConnections() {
    loop.change { state in
      for connection in state.connections { connection.reset() }
      state.connections = []
    }
  }
}
