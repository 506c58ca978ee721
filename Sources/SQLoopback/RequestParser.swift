import SQFoundation

/// A request, and whether its connection stays open.
package struct ParsedRequest: Sendable {
  package let request: LoopbackRequest
  /// Whether another request may follow on the connection.
  package let keepsAlive: Bool
}

/// A parser of one connection's requests, whose bytes may arrive in any pieces.
///
/// It has no socket and no clock. It follows RFC 9112 strictly: lines end in CR LF only, no line is
/// folded, and a framing that could be read in two ways is rejected. After the parser rejects one
/// request, it rejects everything, because the start of the next request is unknown.
package struct RequestParser {
  package enum Event: Sendable {
    /// More bytes are needed.
    case incomplete
    /// The head is complete, and the client sends the body only after `100 Continue`.
    case expectsContinue
    case request(ParsedRequest)
    /// The request is rejected: answer with this status and close the connection.
    case refused(status: Int)
  }

  enum Stage {
    case requestLine(emptyLines: Int)
    case fields
    case content(remaining: Int)
    case chunkSize
    case chunk(remaining: Int)
    case chunkEnd
    case trailers
    case refused(RequestFault)
  }

  let limits: LoopbackLimits
  private let peerPort: UInt16
  private let admission: LoopbackAdmission.Rule?

  private var stage = Stage.requestLine(emptyLines: 0)
  private var lines: LineBuffer
  private var head: RequestHead?
  private var body = Data()
  /// The maximum number of bytes of this request's body.
  private var bodyLimit = 0
  /// The time that the admission rule allows for the body; ``takeAdmittedTime()`` clears it.
  private var admittedTime: Duration?

  package init(
    limits: LoopbackLimits = LoopbackLimits(), peerPort: UInt16 = 0,
    admission: LoopbackAdmission.Rule? = nil
  ) {
    self.limits = limits
    self.peerPort = peerPort
    self.admission = admission
    lines = LineBuffer(budget: limits.requestLineBudget)
  }

  /// Adds bytes from the socket; then call ``next()`` for what has arrived.
  package mutating func append(_ bytes: UnsafeRawBufferPointer) {
    lines.append(bytes)
  }

  /// The number of received bytes that are not part of a request yet.
  package var bufferedBytes: Int { lines.count }

  /// Whether a request has begun but is not complete.
  package var isInsideRequest: Bool {
    if case .requestLine = stage { return lines.count > 0 }
    return true
  }

  /// Parses the bytes received so far and returns the next event.
  package mutating func next() -> Event {
    do throws(RequestFault) {
      while true {
        if let event = try step() { return event }
      }
    } catch {
      stage = .refused(error)
      return .refused(status: error.status)
    }
  }

  /// Reads one line or one piece of a body; returns `nil` if the next step can follow at once.
  private mutating func step() throws(RequestFault) -> Event? {
    switch stage {
    case .requestLine(let emptyLines):
      guard let line = try lines.take(orElse: .targetTooLong) else { return .incomplete }
      return try begin(line, emptyLines: emptyLines)
    case .fields:
      guard let line = try lines.take(orElse: .fieldsTooLarge) else { return .incomplete }
      guard line.isEmpty else {
        try head?.append(fieldLine: line)
        return nil
      }
      return try endHead()
    case .content(let remaining):
      stage = .content(remaining: remaining - lines.move(atMost: remaining, to: &body))
      guard case .content(0) = stage else { return .incomplete }
      return finish()
    case .chunkSize:
      guard let line = try lines.take(orElse: .badRequest) else { return .incomplete }
      let size = try ChunkSize.read(line, room: bodyLimit - body.count)
      stage = size == 0 ? .trailers : .chunk(remaining: size)
      if size == 0 { lines.refill(budget: limits.headerBytes) }
      return nil
    case .chunk(let remaining):
      stage = .chunk(remaining: remaining - lines.move(atMost: remaining, to: &body))
      guard case .chunk(0) = stage else { return .incomplete }
      stage = .chunkEnd
      return nil
    case .chunkEnd:
      guard let line = try lines.take(orElse: .badRequest) else { return .incomplete }
      guard line.isEmpty else { throw .badRequest }
      expectChunk()
      return nil
    case .trailers:
      guard let line = try lines.take(orElse: .fieldsTooLarge) else { return .incomplete }
      guard line.isEmpty else {
        // No handler needs trailers, and a trailer must not count as a header field. So it is
        // checked and dropped.
        _ = try RequestHead.field(line)
        return nil
      }
      return finish()
    case .refused(let fault):
      return .refused(status: fault.status)
    }
  }

  private mutating func begin(
    _ line: ArraySlice<UInt8>, emptyLines: Int
  ) throws(RequestFault) -> Event? {
    // RFC 9112, section 2.2: one empty line before a request line is allowed.
    guard !line.isEmpty else {
      guard emptyLines == 0 else { throw .badRequest }
      stage = .requestLine(emptyLines: 1)
      return nil
    }
    head = try RequestHead(requestLine: line)
    if limits.requestLineBytes != nil {
      lines.refill(budget: limits.headerBytes - line.count - 2)
    }
    stage = .fields
    return nil
  }

  private mutating func endHead() throws(RequestFault) -> Event? {
    guard let head else { throw .badRequest }
    try head.checkHost()
    let expectsContinue = try head.expectsContinue()
    let framing = try RequestFraming(head)
    guard framing == .length(0) || admit(head) else { return leaveUnread(head) }
    switch framing {
    case .length(let length):
      guard length <= bodyLimit else { throw .contentTooLarge }
      stage = .content(remaining: length)
      return expectsContinue && length > 0 && lines.count == 0 ? .expectsContinue : nil
    case .chunked:
      expectChunk()
      return expectsContinue && lines.count == 0 ? .expectsContinue : nil
    }
  }

  /// Returns whether to read the announced body, and sets the body's limits.
  private mutating func admit(_ head: RequestHead) -> Bool {
    bodyLimit = limits.bodyBytes
    guard let admission else { return true }
    switch admission(request(head)) {
    case .ordinary: return true
    case .unread: return false
    case .read(let limit, let time):
      bodyLimit = limit
      admittedTime = time
      return true
    }
  }

  /// Returns the time that the admission rule allows for the current body; later calls return
  /// `nil`.
  package mutating func takeAdmittedTime() -> Duration? {
    defer { admittedTime = nil }
    return admittedTime
  }

  /// Returns the request without its body, and rejects all later bytes, because they include the
  /// body.
  private mutating func leaveUnread(_ head: RequestHead) -> Event {
    stage = .refused(.contentTooLarge)
    return .request(
      ParsedRequest(request: request(head, hasUnreadBody: true), keepsAlive: false))
  }

  private func request(_ head: RequestHead?, hasUnreadBody: Bool = false) -> LoopbackRequest {
    LoopbackRequest(
      method: head?.method ?? "", target: head?.target ?? "", headers: head?.fields ?? [],
      body: body, peerPort: peerPort, hasUnreadBody: hasUnreadBody)
  }

  private mutating func expectChunk() {
    stage = .chunkSize
    lines.refill(budget: ChunkSize.maximumLineBytes)
  }

  private mutating func finish() -> Event {
    let request = request(head)
    let keepsAlive = head?.keepsAlive ?? false
    stage = .requestLine(emptyLines: 0)
    head = nil
    body = Data()
    lines.refill(budget: limits.requestLineBudget)
    return .request(ParsedRequest(request: request, keepsAlive: keepsAlive))
  }
}

extension LoopbackLimits {
  /// The maximum number of bytes of a request line with its line end.
  fileprivate var requestLineBudget: Int { min(requestLineBytes ?? headerBytes, headerBytes) }
}
