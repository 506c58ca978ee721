/// One wait of a task for a socket, for a time, or for both.
///
/// It begins when it is created. Cancelling the waiting task does not end it.
package final class SocketWait: EventHandler {
  private let loop: EventLoop
  private let socket: Int32?
  private let isOver = Locked(false)
  private let isReady = OneShot<Bool>()

  /// Begins to wait for events of a socket, until a time of ``Monotonic``.
  ///
  /// Without a socket, it waits only for the time. A socket can have only one wait at a time.
  package init(
    _ socket: Int32? = nil, for events: SocketEvents = .readable, until deadline: UInt64,
    on loop: EventLoop
  ) {
    self.loop = loop
    self.socket = socket
    loop.call(self, at: deadline)
    if let socket, !loop.watch(socket, for: events.union(.once), by: self) { finish(false) }
  }

  /// Returns `true` when the socket has an event.
  ///
  /// Returns `false` at the deadline, after ``end()``, or if the system cannot watch the socket or
  /// the loop has failed.
  package func result() async -> Bool { await isReady.wait() }

  /// Ends the wait early; does nothing if the wait has already ended.
  package func end() { finish(false) }

  package func socketsAreReady(_ sockets: ArraySlice<ReadySocket>) { finish(true) }

  package func timeIsDue() { finish(false) }

  package func loopHasFailed() { finish(false) }

  private func finish(_ result: Bool) {
    let wasOver = isOver.withLock { isOver in
      defer { isOver = true }
      return isOver
    }
    if wasOver { return }
    loop.call(self, at: Monotonic.never)
    // Forget the socket first: its next wait may begin as soon as this wait has a result.
    if !result, let socket { loop.forget(socket) }
    isReady.resolve(result)
  }
}
