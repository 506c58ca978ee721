import SQBasics

/// A loopback address to listen on.
package enum LoopbackAddress: Sendable, Hashable {
  case ipv4
  case ipv6
}

/// Limits on the resources that one client, or all clients together, may use.
package struct LoopbackLimits: Sendable {
  /// The maximum number of connections that are open at the same time.
  ///
  /// Connections that have their answer and are about to close do not count. A further connection
  /// closes the oldest connection that has sent no complete request. If there is none, the new
  /// connection is closed.
  package var connections = 64
  /// The maximum number of bytes of a request line and header fields together.
  package var headerBytes = 16 * 1024
  /// The maximum number of bytes of a request line; `nil` if only ``headerBytes`` limits it.
  package var requestLineBytes: Int?
  package var bodyBytes = 1 << 20
  /// The maximum time from the first byte of a request to its last.
  package var requestTime: Duration = .seconds(10)
  /// The maximum time in which a client sends nothing between requests, or receives nothing.
  package var idleTime: Duration = .seconds(30)

  package init() {}
}

/// A request that the server rejects itself because it is malformed, unsupported, too large or too
/// slow.
package struct LoopbackRefusal: Sendable, Hashable {
  /// The status of the server's answer.
  package let status: Int
  /// Whether the client spoke TLS and therefore cannot read the answer.
  package let isTLS: Bool

  /// A function that returns the answer to the client, such as a page, or `nil` for a plain text.
  ///
  /// It runs on the server's thread.
  package typealias Handler = @Sendable (LoopbackRefusal) -> LoopbackResponse?
}

/// The reason why a server did not start.
package enum LoopbackError: Error, Hashable {
  case portInUse(UInt16)
  case addressUnavailable
  case system(errno: Int32)
}

/// An HTTP/1.1 server on a loopback address.
///
/// The redirect receiver and the sandbox use it. Every byte may come from an attacker on the same
/// machine. One thread serves all connections, and each connection's requests in order.
///
/// The handler is called once for each well-formed request, on the server's thread. It may suspend
/// but must not block. Its task is cancelled when the client disconnects. The server itself answers
/// malformed requests with 400, 413, 414, 417, 431, 501 or 505, and late ones with 408.
package final class LoopbackServer: Sendable {
  package typealias Handler = @Sendable (LoopbackRequest) async -> LoopbackReply

  /// The server's port: the requested one, or the kernel's choice.
  package let port: UInt16
  package let address: LoopbackAddress
  private let mailbox: LoopMailbox
  private let crowd = LoopbackCrowd()

  /// Creates a server that already listens when this initializer returns.
  ///
  /// Port 0 takes any free port. Without `admission`, every body is read within the limits.
  /// `refusal` is called for each request that the server rejects before it reaches the handler.
  package init(
    address: LoopbackAddress = .ipv4, port: UInt16 = 0, limits: LoopbackLimits = LoopbackLimits(),
    admission: LoopbackAdmission.Rule? = nil, refusal: LoopbackRefusal.Handler? = nil,
    handler: @escaping Handler
  ) throws(LoopbackError) {
    let (listener, boundPort) = try Sockets.listen(address, port: port)
    let mailbox: LoopMailbox
    do throws(EventLoopFailure) {
      mailbox = LoopMailbox(try EventLoop())
    } catch {
      Sockets.closeListener(listener)
      throw .system(errno: error.errno)
    }
    let context = ConnectionContext(
      limits: limits, admission: admission, refusal: refusal, handler: handler, mailbox: mailbox,
      crowd: crowd)
    self.mailbox = mailbox
    self.address = address
    self.port = boundPort
    do throws(LoopbackError) {
      try LoopbackConnections.start(listener, context)
    } catch {
      mailbox.loop.end()
      Sockets.closeListener(listener)
      throw error
    }
  }

  deinit {
    mailbox.post(.abandon)
  }

  /// The address and port as a client writes them: `127.0.0.1:port` or `[::1]:port`.
  package var authority: String {
    switch address {
    case .ipv4: "127.0.0.1:\(port)"
    case .ipv6: "[::1]:\(port)"
    }
  }

  /// Waits until the handler has been called for each request that arrived before this call.
  package func settle() async {
    await withCheckedContinuation { continuation in
      let isOpen = mailbox.post(.settle { continuation.resume() })
      if !isOpen { continuation.resume() }
    }
  }

  /// The number of connections that were closed because too many were open.
  package var turnedAway: Int { crowd.turnedAway }

  /// Stops listening, closes the connections and returns when the port is free again.
  ///
  /// Handlers that have not answered within `handlerGrace` are cancelled, and their answers are
  /// dropped. The clients have `handlerGrace`, but at least one second, to receive the answers. A
  /// further call waits for the end of the first.
  package func stop(handlerGrace: Duration = .milliseconds(100)) async {
    await withCheckedContinuation { continuation in
      let isOpen = mailbox.post(.stop(handlerGrace: handlerGrace) { continuation.resume() })
      if !isOpen { continuation.resume() }
    }
  }
}
