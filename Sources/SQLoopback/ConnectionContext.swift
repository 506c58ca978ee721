import SQBasics

/// The settings and objects that all connections of one server share.
struct ConnectionContext: Sendable {
  let limits: LoopbackLimits
  let admission: LoopbackAdmission.Rule?
  let refusal: LoopbackRefusal.Handler?
  let handler: LoopbackServer.Handler
  let mailbox: LoopMailbox
  let crowd: LoopbackCrowd

  var loop: EventLoop { mailbox.loop }

  /// Runs the handler and posts its answer to the mailbox.
  ///
  /// The handler starts on the event loop's thread, so a handler that never suspends needs no
  /// change of threads. After its first suspension, it runs in the cooperative pool.
  func startHandler(
    _ request: LoopbackRequest, _ connection: Connection.ID, exchange: UInt64
  ) -> Task<Void, Never> {
    let handler = handler
    let mailbox = mailbox
    return .startingHere {
      let reply = await handler(request)
      mailbox.post(.reply(connection, exchange: exchange, reply))
    }
  }
}

/// A counter of the connections that a server closed because too many were open.
final class LoopbackCrowd: Sendable {
  private let count = Locked(0)

  var turnedAway: Int { count.withLock(\.self) }

  func turnedOneAway() {
    count.withLock { $0 += 1 }
  }
}
