/// The two loopback addresses; nothing else can be bound.
package enum LoopbackAddress: Sendable, Hashable {
  case ipv4
  case ipv6
}

/// How much of a client the server bears.
package struct LoopbackLimits: Sendable {
  /// Connections open at once, without those whose answer is sent and that are about to close.
  ///
  /// For one more, the oldest that has not sent a whole request is closed; where each of them has,
  /// the new one is.
  package var connections = 64
  /// Bytes of the request line and the fields together.
  package var headerBytes = 16 * 1024
  package var bodyBytes = 1 << 20
  /// From the first byte of a request to its last.
  package var requestTime: Duration = .seconds(10)
  /// How long a connection may send nothing, before a request or between two, or take nothing.
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
/// machine, and the sandbox. One thread serves all connections, each in order; the handler is
/// called once for each well-formed request, and the task it runs in is cancelled when its client
/// goes away. It starts on the server's thread and must suspend rather than block. A malformed
/// request is answered by the server itself: 400, 413, 414, 417, 431, 501, 505, or 408 when it
/// does not end in time.
package final class LoopbackServer: Sendable {
  package typealias Handler = @Sendable (LoopbackRequest) async -> LoopbackReply

  /// The port that the kernel gave, or the one that was asked for.
  package let port: UInt16
  package let address: LoopbackAddress
  private let mailbox: LoopMailbox
  private let crowd = LoopbackCrowd()

  /// Binds and listens before it returns; port 0 asks for any free one.
  ///
  /// Without `admission` every body is read, within the limits.
  package init(
    address: LoopbackAddress = .ipv4, port: UInt16 = 0, limits: LoopbackLimits = LoopbackLimits(),
    admission: LoopbackAdmission.Rule? = nil, handler: @escaping Handler
  ) throws(LoopbackError) {
    let mailbox = try LoopMailbox()
    let (listener, boundPort) = try Sockets.listen(address, port: port)
    let context = ConnectionContext(
      limits: limits, admission: admission, handler: handler, mailbox: mailbox, crowd: crowd)
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

  /// The authority that a client writes: `127.0.0.1:port` or `[::1]:port`.
  package var authority: String {
    switch address {
    case .ipv4: "127.0.0.1:\(port)"
    case .ipv6: "[::1]:\(port)"
    }
  }

  /// Returns when each request that had arrived before the call was given to the handler.
  package func settle() async {
    await withCheckedContinuation { continuation in
      let isOpen = mailbox.post(.settle { continuation.resume() })
      if !isOpen { continuation.resume() }
    }
  }

  /// How many connections were closed because there were too many of them.
  package var turnedAway: Int { crowd.turnedAway }

  /// Stops listening, closes the connections and returns when the port is free again.
  ///
  /// What handlers have answered, or answer within the grace that they are given, is sent first,
  /// within a second or that grace; handlers that still run are cancelled and their answers
  /// dropped. A second call does nothing but wait for the same end.
  package func stop(handlerGrace: Duration = .milliseconds(100)) async {
    await withCheckedContinuation { continuation in
      let isOpen = mailbox.post(.stop(handlerGrace: handlerGrace) { continuation.resume() })
      if !isOpen { continuation.resume() }
    }
  }
}
