import SQBasics

/// The connection of one client: the bytes it sent, the answer it gets, and its deadline.
///
/// Only the event loop's thread uses it. After each method, ``LoopbackConnections`` reads
/// ``interest`` (the events to wait for), ``deadline`` (the time to wait until) and ``isClosed``
/// (whether to remove the connection).
final class Connection {
  /// The identity of a connection; the socket alone is not enough, as the system reuses its number.
  struct ID: Sendable, Hashable {
    let socket: Int32
    let number: UInt64
  }

  enum Phase {
    /// Waits for a request or for the rest of it.
    case reading
    case handling(Task<Void, Never>)
    case scripted(ScriptCursor)
    /// Sends the remaining bytes, then tells the client that no more will come.
    case closing
    /// Reads and discards what the client still sends, at most until this time.
    ///
    /// Closing the connection with unread bytes could make the client lose the response.
    case lingering(until: UInt64)
    case closed
  }

  /// The number of bytes that every client may send ahead while its request is handled.
  private static let leastBacklog = 64 * 1024

  let id: ID
  let context: ConnectionContext
  var phase = Phase.reading
  var output = OutputQueue()
  var deadline: UInt64
  /// The events for which the event loop watches the socket.
  private var watched: SocketEvents = .readable
  private var parser: RequestParser
  /// The number of the current request, so that a late answer is not sent for the next request.
  private var exchange: UInt64 = 0
  private var answersHead = false
  private var keepsAlive = true
  private var isIdle = true
  /// The first byte that the client sent; `nil` if it sent none.
  private var firstByte: UInt8?
  private(set) var peerHasFinished = false
  var isStopping = false

  init(_ id: ID, peerPort: UInt16, context: ConnectionContext, now: UInt64) {
    self.id = id
    self.context = context
    parser = RequestParser(
      limits: context.limits, peerPort: peerPort,
      admission: context.admission)
    deadline = Monotonic.after(context.limits.idleTime, from: now)
  }

  var socket: Int32 { id.socket }

  var isClosed: Bool {
    if case .closed = phase { return true }
    return false
  }

  var isHandling: Bool {
    if case .handling = phase { return true }
    return false
  }

  /// Whether the client has sent no complete request since it connected.
  var isWithoutRequest: Bool {
    if case .reading = phase { return exchange == 0 }
    return false
  }

  /// Whether the response is sent and the connection only waits for the client to close it.
  var isLingering: Bool {
    if case .lingering = phase { return true }
    return false
  }

  /// The events that the connection waits for.
  var interest: SocketEvents {
    var events: SocketEvents = output.isEmpty ? [] : .writable
    if !peerHasFinished && takesBytes { events.insert(.readable) }
    return events
  }

  /// Whether the connection reads more bytes from the client.
  ///
  /// A closing or lingering connection discards the bytes. In all other phases, it keeps a limited
  /// number of them.
  private var takesBytes: Bool {
    if case .lingering = phase { return true }
    // The buffer must hold a whole line, and a line may be as long as a whole head.
    return parser.bufferedBytes < max(Self.leastBacklog, context.limits.headerBytes + 1)
  }

  /// Makes the event loop wait for the current ``interest``.
  func watchAgain() {
    guard interest != watched else { return }
    watched = interest
    context.loop.change(socket, to: interest)
  }

  // MARK: Reading from the socket

  /// Reads and writes what the events allow; returns whether anything arrived.
  @discardableResult
  func serve(
    _ events: SocketEvents, _ scratch: UnsafeMutableRawBufferPointer, now: UInt64
  ) -> Bool {
    let hasReceived = events.contains(.readable) && receive(into: scratch, now: now)
    if events.contains(.writable) { flush(now: now) }
    if events == .ended { close() }
    return hasReceived
  }

  /// Reads once; returns whether bytes or the end of the connection have arrived.
  @discardableResult
  func receive(into scratch: UnsafeMutableRawBufferPointer, now: UInt64) -> Bool {
    switch SocketIO.receive(socket, into: scratch) {
    case .bytes(let count):
      switch phase {
      case .closing, .closed: break
      case .lingering(let end): linger(until: end, now: now)
      case .reading, .handling, .scripted:
        firstByte = firstByte ?? scratch.first
        parser.append(UnsafeRawBufferPointer(rebasing: scratch[..<count]))
        readOn(now: now)
      }
    case .wait: return false
    case .end: peerFinished()
    case .failed: close()
    }
    return true
  }

  /// Handles the end of the client's bytes.
  ///
  /// No client of this server sends a request and then half-closes the connection. So a client that
  /// ends its side has gone, and its running handler is cancelled.
  private func peerFinished() {
    peerHasFinished = true
    switch phase {
    case .reading, .closing:
      keepsAlive = false
      if output.isEmpty { close() } else { phase = .closing }
    case .handling, .scripted, .lingering, .closed: close()
    }
  }

  func flush(now: UInt64) {
    guard !isClosed, !output.isEmpty else { return }
    switch output.flush(socket) {
    case .done: sentEverything(now: now)
    case .blocked(let hasSent):
      if hasSent || deadline == Monotonic.never { expect(context.limits.idleTime, from: now) }
    case .failed: close()
    }
  }

  private func sentEverything(now: UInt64) {
    switch phase {
    case .reading:
      isIdle = !parser.isInsideRequest
      expect(isIdle ? context.limits.idleTime : context.limits.requestTime, from: now)
      readOn(now: now)
    case .closing: finishSending(now: now)
    case .scripted: continueScript(now: now)
    case .handling: deadline = Monotonic.never
    case .lingering, .closed: break
    }
  }

  // MARK: Requests and answers

  private func readOn(now: UInt64) {
    guard case .reading = phase, output.isEmpty else { return }
    if isIdle && parser.isInsideRequest {
      isIdle = false
      expect(context.limits.requestTime, from: now)
    }
    let event = parser.next()
    if let time = parser.takeAdmittedTime() { expect(time, from: now) }
    switch event {
    case .incomplete: break
    case .expectsContinue:
      output.append(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))
      // The time limit starts with the first byte of the request; sending `100 Continue` does not
      // extend it.
      let end = deadline
      flush(now: now)
      if output.isEmpty { deadline = end }
    case .refused(let status): refuse(status, now: now)
    case .request(let parsed): start(parsed)
    }
  }

  private func start(_ parsed: ParsedRequest) {
    exchange += 1
    answersHead = parsed.request.method == "HEAD"
    keepsAlive = parsed.keepsAlive
    deadline = Monotonic.never
    phase = .handling(context.startHandler(parsed.request, id, exchange: exchange))
  }

  private func refuse(_ status: Int, now: UInt64) {
    answersHead = false
    keepsAlive = false
    // RFC 8446, section 5.1: a TLS handshake record begins with this byte, and no request does.
    let refusal = LoopbackRefusal(status: status, isTLS: firstByte == 0x16)
    send(context.refusal?(refusal) ?? .refusal(status), now: now)
  }

  func answer(_ reply: LoopbackReply, to exchange: UInt64, now: UInt64) {
    guard case .handling = phase, exchange == self.exchange else { return }
    switch reply {
    case .response(let response): send(response, now: now)
    case .script(let steps):
      phase = .scripted(ScriptCursor(steps))
      continueScript(now: now)
    }
  }

  private func send(_ response: LoopbackResponse, now: UInt64) {
    let response = response.wellFormed
    let closes = response.closesConnection || !keepsAlive || isStopping
    let joinsBody = response.body.count <= 64 * 1024
    output.append(
      response.wireBytes(toHead: answersHead, closes: closes, includingBody: joinsBody))
    if !joinsBody && !answersHead && response.hasContent { output.append(response.body) }
    phase = closes ? .closing : .reading
    deadline = Monotonic.never
    flush(now: now)
  }

  // MARK: Time

  func expect(_ duration: Duration, from now: UInt64) {
    deadline = Monotonic.after(duration, from: now)
  }

  func timedOut(now: UInt64) {
    guard output.isEmpty else { return close() }
    switch phase {
    case .reading where parser.isInsideRequest: refuse(408, now: now)
    case .scripted: continueScript(now: now)
    case .handling, .closed: deadline = Monotonic.never
    case .reading, .closing, .lingering: close()
    }
  }
}
