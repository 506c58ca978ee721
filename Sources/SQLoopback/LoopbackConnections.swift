import SQBasics

/// The connections of one server: the object that accepts and serves them and keeps their
/// deadlines.
///
/// Only the thread of the server's event loop uses it, so it needs no lock.
final class LoopbackConnections: EventHandler, @unchecked Sendable {
  /// The time that clients have to receive the rest of their answers when the server stops.
  private static let stopGrace: Duration = .seconds(1)
  /// The maximum number of connections to accept before messages and other sockets get their turn.
  ///
  /// A program that connects as fast as the server accepts could otherwise keep the thread forever.
  private static let turns = 64
  /// The pause before accepting connections again after a failure, such as no free descriptor.
  private static let acceptPause: Duration = .milliseconds(100)

  let context: ConnectionContext
  /// The socket that accepts connections; `nil` after the server has stopped listening.
  private var listener: Int32?
  private(set) var all: [Int32: Connection] = [:]
  private var deadlines = TimerQueue<Int32, Connection>()
  private var lastNumber: UInt64 = 0
  /// The time at which to accept connections again after a pause.
  private var acceptsAgain = Monotonic.never
  private var stopping: (cancelHandlers: UInt64, closeAll: UInt64)?
  /// The time at which the event loop will call ``timeIsDue()``.
  private var alarm = Monotonic.never
  private var completions: [@Sendable () -> Void] = []
  private let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 16)

  private init(_ listener: Int32, _ context: ConnectionContext) {
    self.listener = listener
    self.context = context
  }

  deinit {
    scratch.deallocate()
  }

  /// Starts to accept connections; the loop keeps the object alive until a message stops it.
  static func start(_ listener: Int32, _ context: ConnectionContext) throws(LoopbackError) {
    let connections = LoopbackConnections(listener, context)
    guard context.loop.watch(listener, for: .readable, by: connections) else {
      throw .unwatched
    }
    context.mailbox.open(for: connections)
  }

  private var loop: EventLoop { context.loop }

  // MARK: Events of the loop

  func socketsAreReady(_ sockets: ArraySlice<ReadySocket>) {
    let now = Monotonic.now()
    for ready in sockets {
      guard let connection = all[ready.socket] else { continue }
      connection.serve(ready.events, scratch, now: now)
      update(connection)
    }
    if sockets.contains(where: { $0.socket == listener }) { acceptArrived(now: now) }
    prepareNext()
  }

  func timeIsDue() {
    alarm = Monotonic.never
    keepTime(now: Monotonic.now())
    prepareNext()
  }

  func isCalled() {
    let now = Monotonic.now()
    for message in context.mailbox.take() { obey(message, now: now) }
    prepareNext()
  }

  func loopHasFailed() {
    stop(now: Monotonic.now(), handlerGrace: .zero, clientGrace: .zero)
    for connection in all.values { connection.close() }
    all = [:]
    end()
  }

  /// Sets the time of the next ``timeIsDue()``, or ends the loop if the server has stopped.
  private func prepareNext() {
    if stopping != nil && all.isEmpty { return end() }
    let stop = stopping.map {
      $0.cancelHandlers > Monotonic.now() ? $0.cancelHandlers : $0.closeAll
    }
    let next = min(deadlines.next, acceptsAgain, stop ?? Monotonic.never)
    guard next != alarm else { return }
    alarm = next
    loop.call(self, at: next)
  }

  private func end() {
    for message in context.mailbox.close() {
      switch message {
      case .stop(_, let completion), .settle(let completion): completions.append(completion)
      case .reply, .abandon: break
      }
    }
    for completion in completions { completion() }
    completions = []
    loop.end()
  }

  // MARK: Messages

  private func obey(_ message: LoopMessage, now: UInt64) {
    switch message {
    case .reply(let id, let exchange, let reply):
      guard let connection = all[id.socket], connection.id == id else { return }
      connection.answer(reply, to: exchange, now: now)
      update(connection)
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

  private func stop(now: UInt64, handlerGrace: Duration, clientGrace: Duration) {
    guard stopping == nil else { return }
    if let listener {
      loop.forget(listener)
      Sockets.closeListener(listener)
    }
    listener = nil
    acceptsAgain = Monotonic.never
    let cancelHandlers = Monotonic.after(handlerGrace, from: now)
    stopping = (cancelHandlers, max(cancelHandlers, Monotonic.after(clientGrace, from: now)))
    for connection in Array(all.values) {
      connection.stop()
      update(connection)
    }
  }

  /// Accepts and reads everything that has arrived, up to a limit in case a client keeps sending.
  private func serveArrived() {
    for _ in 0..<64 {
      let now = Monotonic.now()
      var hasServed = acceptsAgain == Monotonic.never && acceptArrived(now: now)
      for connection in Array(all.values) {
        if connection.serve(connection.interest, scratch, now: now) { hasServed = true }
        update(connection)
      }
      if !hasServed { return }
    }
  }

  // MARK: Accepting

  /// Accepts the connections that have arrived, up to a limit; returns whether there was one.
  @discardableResult
  private func acceptArrived(now: UInt64) -> Bool {
    var hasAccepted = false
    for _ in 0..<Self.turns {
      guard let listener, let accepted = Sockets.accept(listener) else {
        if let listener, !Sockets.acceptsAtOnce { pauseAccepting(listener, now: now) }
        break
      }
      hasAccepted = true
      guard makeRoom(now: now) else {
        context.crowd.turnedOneAway()
        Sockets.close(accepted.socket)
        continue
      }
      add(accepted.socket, peerPort: accepted.peerPort, now: now)
    }
    return hasAccepted
  }

  private func add(_ socket: Int32, peerPort: UInt16, now: UInt64) {
    guard loop.watch(socket, for: .readable, by: self) else { return Sockets.close(socket) }
    lastNumber += 1
    let id = Connection.ID(socket: socket, number: lastNumber)
    let connection = Connection(id, peerPort: peerPort, context: context, now: now)
    all[socket] = connection
    update(connection)
  }

  private func pauseAccepting(_ listener: Int32, now: UInt64) {
    loop.change(listener, to: [])
    acceptsAgain = Monotonic.after(Self.acceptPause, from: now)
  }

  /// Closes connections until a new one is allowed; returns `false` if that is not possible.
  ///
  /// It closes only connections whose response is sent, and connections that have sent no complete
  /// request. Any program on the machine can open connections without sending a request, and these
  /// must not block a browser.
  private func makeRoom(now: UInt64) -> Bool {
    while all.values.count(where: \.isLingering) >= context.limits.connections {
      guard let connection = oldest(where: \.isLingering) else { break }
      connection.close()
      update(connection)
    }
    while all.values.count(where: { !$0.isLingering }) >= context.limits.connections {
      guard let connection = oldest(where: \.isWithoutRequest) else {
        // Some handlers may have answered by now, and their connections may be finished.
        let replies = context.mailbox.takeReplies()
        if replies.isEmpty { return false }
        for reply in replies { obey(reply, now: now) }
        continue
      }
      // The connection's request may have arrived, although it is not read yet.
      connection.receive(into: scratch, now: now)
      if connection.isWithoutRequest {
        context.crowd.turnedOneAway()
        connection.close()
      }
      update(connection)
    }
    return true
  }

  private func oldest(where isMeant: (Connection) -> Bool) -> Connection? {
    all.values.filter(isMeant).min { $0.id.number < $1.id.number }
  }

  /// Updates what the loop waits for on a connection; removes the connection if it is closed.
  private func update(_ connection: Connection) {
    let socket = connection.id.socket
    guard !connection.isClosed else {
      all[socket] = nil
      return deadlines.remove(socket)
    }
    connection.watchAgain()
    deadlines.set(connection, id: socket, at: connection.deadline)
  }

  // MARK: Time

  private func keepTime(now: UInt64) {
    if acceptsAgain <= now, let listener {
      acceptsAgain = Monotonic.never
      loop.change(listener, to: .readable)
    }
    var due: [Connection] = []
    while let connection = deadlines.takeDue(at: now) { due.append(connection) }
    for connection in due {
      connection.timedOut(now: now)
      update(connection)
    }
    guard let stopping else { return }
    for connection in Array(all.values) {
      let end = connection.isHandling ? stopping.cancelHandlers : stopping.closeAll
      if end <= now { connection.close() }
      update(connection)
    }
  }
}
