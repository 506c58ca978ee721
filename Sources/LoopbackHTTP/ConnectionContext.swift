import Basics

/// What the connections of one server share.
struct ConnectionContext: Sendable {
  let limits: LoopbackLimits
  let admission: LoopbackAdmission.Rule?
  let handler: LoopbackServer.Handler
  let mailbox: LoopMailbox
  let crowd: LoopbackCrowd

  /// Runs the handler, whose answer comes back through the mailbox.
  ///
  /// It starts on the event loop's own thread, so that an answer which needs no waiting costs no
  /// change of threads; from its first suspension on it belongs to the cooperative pool.
  func startHandler(
    _ request: LoopbackRequest, connection: UInt64, exchange: UInt64
  ) -> Task<Void, Never> {
    let handler = handler
    let mailbox = mailbox
    return .startingHere {
      let reply = await handler(request)
      mailbox.post(.reply(connection: connection, exchange: exchange, reply))
    }
  }
}

/// Counts the connections that a server closed because there were too many.
final class LoopbackCrowd: Sendable {
  private let count = Locked(0)

  var turnedAway: Int { count.withLock(\.self) }

  func turnedOneAway() {
    count.withLock { $0 += 1 }
  }
}
