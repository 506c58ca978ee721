/// The two loopback addresses; nothing else can be bound.
package enum LoopbackAddress: Sendable, Hashable {
  case ipv4
  case ipv6
}

/// How much of a client the server bears.
package struct LoopbackLimits: Sendable {
  /// Connections open at once; one more is closed when it arrives.
  package var connections = 64
  /// Bytes of the request line and the fields together.
  package var headerBytes = 16 * 1024
  package var bodyBytes = 1 << 20
  /// From the first byte of a request, or from the accept, to its last byte.
  package var requestTime: Duration = .seconds(10)
  /// How long a connection may stay open between two requests.
  package var idleTime: Duration = .seconds(30)

  package init() {}
}

/// Why a server did not start.
package enum LoopbackError: Error, Hashable {
  case portInUse(UInt16)
  case addressUnavailable
  case system(errno: Int32)
}

/// An HTTP/1.1 server on a loopback address.
///
/// It serves the redirect receiver, where every byte may come from an attacker on the same
/// machine, and the sandbox. Each connection is served in order; connections run side by side.
/// The handler runs on the cooperative pool, once for each well-formed request; a malformed one
/// is answered by the server itself (400, 413, 414, 431, 501, 505, or 408 on time-out).
package final class LoopbackServer: Sendable {
  package typealias Handler = @Sendable (LoopbackRequest) async -> LoopbackReply

  /// The port that the kernel gave, or the one that was asked for.
  package let port: UInt16
  package let address: LoopbackAddress

  /// Binds and listens before it returns; port 0 asks for any free one.
  package init(
    address: LoopbackAddress = .ipv4, port: UInt16 = 0, limits: LoopbackLimits = LoopbackLimits(),
    handler: @escaping Handler
  ) throws(LoopbackError) {
    fatalError()
  }

  /// The authority that a client writes: `127.0.0.1:port` or `[::1]:port`.
  package var authority: String {
    switch address {
    case .ipv4: "127.0.0.1:\(port)"
    case .ipv6: "[::1]:\(port)"
    }
  }

  /// Stops listening, closes the connections and returns when the port is free again.
  ///
  /// Responses that a handler has already returned are sent first, within a second; handlers
  /// that still run are cancelled and their answers dropped. A second call does nothing.
  package func stop() async {}
}
