import SQBasics

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The thread of one server, which accepts, reads and writes all connections and keeps deadlines.
final class EventLoop {
  /// The time that clients have to receive the rest of their answers when the server stops.
  private static let stopGrace: Duration = .seconds(1)
  /// The pause before accepting connections again after the process ran out of file descriptors.
  private static let acceptPause: Duration = .milliseconds(100)

  private let context: ConnectionContext
  private var listener: Int32
  private var connections: [Connection] = []
  private var indexes: [UInt64: Int] = [:]
  /// The descriptors to poll: the mailbox, the listener, then the connections in their order.
  private var polled: [pollfd] = []
  private var lastID: UInt64 = 0
  private var acceptsAgain = Monotonic.never
  /// A time that no deadline is earlier than; when it has passed, the loop computes it again.
  private var nextDeadline = Monotonic.never
  private var stopping: (cancelHandlers: Int64, closeAll: Int64)?
  private var completions: [@Sendable () -> Void] = []
  private let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 16)

  init(listener: Int32, context: ConnectionContext) {
    self.listener = listener
    self.context = context
    polled = [
      pollfd(fd: context.mailbox.readEnd, events: Int16(POLLIN), revents: 0),
      pollfd(fd: listener, events: Int16(POLLIN), revents: 0),
    ]
  }

  deinit {
    scratch.deallocate()
  }

  /// Starts the thread, which keeps the loop alive until a message stops it.
  static func start(_ loop: EventLoop) throws(LoopbackError) {
    nonisolated(unsafe) let loop = loop
    guard Threads.start({ loop.run() }) else { throw .system(errno: EAGAIN) }
  }

  func run() {
    while true {
      while let messages = context.mailbox.takeOrSleep() {
        let now = Monotonic.now()
        for message in messages { obey(message, now: now) }
      }
      if stopping != nil && connections.isEmpty { break }
      let timeout = Monotonic.pollTimeout(until: nextDeadline, from: Monotonic.now())
      var ready = poll(&polled, nfds_t(polled.count), timeout)
      context.mailbox.wokeUp()
      let now = Monotonic.now()
      // After the process was suspended, deadlines seem to have passed although the clients may
      // have sent in time. Look once more.
      if ready <= 0, now >= nextDeadline { ready = poll(&polled, nfds_t(polled.count), 0) }
      if ready > 0 { serve(now: now) }
      if now >= nextDeadline { keepTime(now: now) }
    }
    end()
  }

  private func end() {
    stopListening()
    for connection in connections { connection.close() }
    for message in context.mailbox.close() {
      switch message {
      case .stop(_, let completion), .settle(let completion): completions.append(completion)
      case .reply, .abandon: break
      }
    }
    for completion in completions { completion() }
  }

  // MARK: Messages

  private func obey(_ message: LoopMessage, now: Int64) {
    switch message {
    case .reply(let id, let exchange, let reply):
      guard let index = indexes[id] else { return }
      connections[index].answer(reply, to: exchange, now: now)
      update(index)
    case .stop(let handlerGrace, let completion):
      completions.append(completion)
      stop(now: now, handlerGrace: handlerGrace, clientGrace: Self.stopGrace)
    case .settle(let completion):
      serveArrived()
      completion()
    case .abandon:
      stop(now: now, handlerGrace: .zero, clientGrace: .zero)
    }
  }

  private func stop(now: Int64, handlerGrace: Duration, clientGrace: Duration) {
    guard stopping == nil else { return }
    stopListening()
    let cancelHandlers = Monotonic.after(handlerGrace, from: now)
    stopping = (cancelHandlers, max(cancelHandlers, Monotonic.after(clientGrace, from: now)))
    for index in connections.indices.reversed() {
      connections[index].stop(now: now)
      update(index)
    }
    nextDeadline = now
  }

  private func stopListening() {
    guard listener >= 0 else { return }
    Sockets.closeListener(listener)
    listener = -1
    // `poll` skips a negative descriptor.
    polled[1].fd = -1
  }

  // MARK: Sockets

  private func serve(now: Int64) {
    if polled[0].revents != 0 { context.mailbox.drain() }
    let mustAccept = polled[1].revents != 0
    // Backwards, because the last connection takes the place of a connection that ends.
    for index in connections.indices.reversed() {
      let events = Int32(polled[index + 2].revents)
      guard events != 0 else { continue }
      let connection = connections[index]
      if events & Int32(POLLIN) != 0 { connection.receive(into: scratch, now: now) }
      if events & Int32(POLLOUT) != 0 { connection.flush(now: now) }
      if events & Int32(POLLIN | POLLOUT) == 0 { connection.close() }
      update(index)
    }
    if mustAccept { acceptAll(now: now) }
  }

  /// Accepts and reads everything that has arrived, up to a limit in case a client keeps sending.
  private func serveArrived() {
    var rounds = 0
    while rounds < 64, poll(&polled, nfds_t(polled.count), 0) > 0 {
      serve(now: Monotonic.now())
      rounds += 1
    }
  }

  private func acceptAll(now: Int64) {
    while listener >= 0 {
      guard let accepted = Sockets.accept(listener) else {
        if errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM {
          polled[1].events = 0
          acceptsAgain = Monotonic.after(Self.acceptPause, from: now)
          nextDeadline = min(nextDeadline, acceptsAgain)
        }
        return
      }
      guard makeRoom(now: now) else {
        context.crowd.turnedOneAway()
        Sockets.close(accepted.socket)
        continue
      }
      lastID += 1
      let connection = Connection(
        id: lastID, socket: accepted.socket, peerPort: accepted.peerPort, context: context,
        now: now)
      indexes[lastID] = connections.count
      connections.append(connection)
      polled.append(pollfd(fd: accepted.socket, events: Int16(POLLIN), revents: 0))
      nextDeadline = min(nextDeadline, connection.deadline)
    }
  }

  /// Closes idle connections if too many are open; returns `false` if all have sent a request.
  ///
  /// Any program on the machine can open connections, and idle connections must not block a
  /// browser.
  private func makeRoom(now: Int64) -> Bool {
    while connections.count(where: \.isLingering) >= context.limits.connections {
      guard let index = oldest(where: \.isLingering) else { break }
      connections[index].close()
      update(index)
    }
    while connections.count(where: { !$0.isLingering }) >= context.limits.connections {
      guard let index = oldest(where: \.isWithoutRequest) else {
        // Some handlers may have answered by now, and their connections may be finished.
        let replies = context.mailbox.takeReplies()
        if replies.isEmpty { return false }
        for reply in replies { obey(reply, now: now) }
        continue
      }
      // The connection's request may have arrived unread.
      connections[index].receive(into: scratch, now: now)
      if connections[index].isWithoutRequest {
        context.crowd.turnedOneAway()
        connections[index].close()
      }
      update(index)
    }
    return true
  }

  private func oldest(where isMeant: (Connection) -> Bool) -> Int? {
    connections.indices.filter { isMeant(connections[$0]) }.min {
      connections[$0].id < connections[$1].id
    }
  }

  /// Updates what the loop waits for on a connection; removes the connection if it is closed.
  private func update(_ index: Int) {
    let connection = connections[index]
    guard !connection.isClosed else {
      indexes[connection.id] = nil
      connections.swapAt(index, connections.count - 1)
      polled.swapAt(index + 2, polled.count - 1)
      connections.removeLast()
      polled.removeLast()
      if index < connections.count { indexes[connections[index].id] = index }
      return
    }
    polled[index + 2].events = connection.interest
    nextDeadline = min(nextDeadline, connection.deadline)
  }

  // MARK: Time

  private func keepTime(now: Int64) {
    nextDeadline = Monotonic.never
    if acceptsAgain <= now {
      acceptsAgain = Monotonic.never
      polled[1].events = Int16(POLLIN)
    }
    for index in connections.indices.reversed() {
      let connection = connections[index]
      if connection.deadline <= now { connection.timedOut(now: now) }
      if let stopping {
        let end = connection.isHandling ? stopping.cancelHandlers : stopping.closeAll
        if end <= now { connection.close() }
      }
      update(index)
    }
    nextDeadline = min(nextDeadline, acceptsAgain)
    if let stopping {
      nextDeadline = min(
        nextDeadline, stopping.cancelHandlers > now ? stopping.cancelHandlers : stopping.closeAll)
    }
  }
}
