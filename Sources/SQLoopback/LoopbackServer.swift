/// A loopback address; the server can listen on no other.
package enum LoopbackAddress: Sendable, Hashable {
  case ipv4
  case ipv6
}

/// Limits on what one client, or all of them together, may use.
package struct LoopbackLimits: Sendable {
  /// The most connections open at once; those that have their answer and are about to close do not
  /// count.
  ///
  /// One connection more closes the oldest that has not sent a whole request. If every connection
  /// has sent one, the new connection is closed.
  package var connections = 64
  /// The most bytes of a request line and its fields together.
  package var headerBytes = 16 * 1024
  /// The most bytes of a request line; `nil` if only the limit for the whole head counts.
  package var requestLineBytes: Int?
  package var bodyBytes = 1 << 20
  /// The most time from the first byte of a request to its last.
  package var requestTime: Duration = .seconds(10)
  /// How long a client may send nothing, before a request or between two, or accept nothing.
  package var idleTime: Duration = .seconds(30)

  package init() {}
}

/// A request that the server refuses by itself, because it is malformed, too large or too slow.
package struct LoopbackRefusal: Sendable, Hashable {
  /// The status of the server's answer.
  package let status: Int
  /// Whether the client spoke TLS, and so cannot read the answer.
  package let isTLS: Bool

  /// Gets each refusal on the server's thread, and may return an answer with a page.
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
/// It serves the redirect receiver, where every byte may come from an attacker on the same machine,
/// and the sandbox. One thread serves all connections, each in order.
///
/// The handler is called once for each well-formed request, on the server's thread: it must suspend
/// and not block. Its task is cancelled when the client goes away. The server itself answers a
/// malformed request: with 400, 413, 414, 417, 431, 501, 505, or with 408 when the request does not
/// end in time.
package final class LoopbackServer: Sendable {
  package typealias Handler = @Sendable (LoopbackRequest) async -> LoopbackReply

  /// The port of the server: the one that was asked for, or one that the kernel chose.
  package let port: UInt16
  package let address: LoopbackAddress
  private let mailbox: LoopMailbox
  private let crowd = LoopbackCrowd()

  /// Binds and listens before it returns; port 0 takes any free port.
  ///
  /// Without `admission` every body is read, within the limits. `refusal` learns of the requests
  /// that never reach the handler.
  package init(
    address: LoopbackAddress = .ipv4, port: UInt16 = 0, limits: LoopbackLimits = LoopbackLimits(),
    admission: LoopbackAdmission.Rule? = nil, refusal: LoopbackRefusal.Handler? = nil,
    handler: @escaping Handler
  ) throws(LoopbackError) {
    let mailbox = try LoopMailbox()
    let (listener, boundPort) = try Sockets.listen(address, port: port)
    let context = ConnectionContext(
      limits: limits, admission: admission, refusal: refusal, handler: handler, mailbox: mailbox,
      crowd: crowd)
    self.mailbox = mailbox
    self.address = address
    self.port = boundPort
    do throws(LoopbackError) {
      try EventLoop.start(EventLoop(listener: listener, context: context))
    } catch {
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

  /// Returns when the handler has been called for each request that arrived before this call.
  package func settle() async {
    await withCheckedContinuation { continuation in
      let isOpen = mailbox.post(.settle { continuation.resume() })
      if !isOpen { continuation.resume() }
    }
  }

  /// How many connections were closed because too many were open.
  package var turnedAway: Int { crowd.turnedAway }

  /// Stops listening, closes the connections and returns when the port is free again.
  ///
  /// Handlers have `handlerGrace` to answer; their answers are sent within that time or a second.
  /// Then running handlers are cancelled and their answers dropped. A second call waits for the
  /// same end.
  package func stop(handlerGrace: Duration = .milliseconds(100)) async {
    await withCheckedContinuation { continuation in
      let isOpen = mailbox.post(.stop(handlerGrace: handlerGrace) { continuation.resume() })
      if !isOpen { continuation.resume() }
    }
  }
}
