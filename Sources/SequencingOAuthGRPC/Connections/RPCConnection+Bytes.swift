import SQBasics
import SQHTTP2
import SequencingOAuth

/// The handshake, reading and sending of a connection.
extension RPCConnection {
  // MARK: The handshake

  /// Continues the handshake, and begins HTTP/2 when it is complete.
  func advance() {
    guard session == nil, failure == nil else { return }
    do throws(SQOAuthError) {
      let isDone = try bytes.tls?.advanceHandshake() ?? true
      if isDone { try beginSession() }
    } catch {
      // Send the TLS alert that tells the server the reason.
      flush()
      fail(RPCCallError(transport: error))
    }
  }

  private func beginSession() throws(SQOAuthError) {
    guard let session = HTTP2Session(isServer: false, settings: settings, owner: self) else {
      throw SQOAuthError(.connectionFailed, "nghttp2 has no memory for a connection")
    }
    self.session = session
  }

  // MARK: Receiving

  /// Reads and handles at most `limit` bytes; returns whether more may have arrived.
  func read(_ limit: Int = ConnectionBytes.capacity) -> Bool {
    guard failure == nil else { return false }
    switch bytes.receive(limit) {
    case .bytes(let count):
      let now = Monotonic.now()
      pulse.hasReceived(at: now)
      session?.arrived(count, at: now)
      takeArrived()
      if session?.isFlooded == true { breakOffFlood() }
      flush()
      return count == limit
    case .wait: flush()
    case .end: failBroken("was closed by the server")
    case .failed(let errno): failBroken("broke: \(CLibrary.meaning(of: errno))")
    }
    return false
  }

  private func takeArrived() {
    advance()
    while failure == nil, session != nil {
      switch bytes.read() {
      case .bytes(let content): take(content)
      case .wait: return
      case .end(let tls, let reason): return end(tls, reason)
      }
    }
  }

  /// Ends the connection because TLS has ended.
  private func end(_ tls: TLSLayer, _ reason: String?) {
    guard let reason else { return failBroken("was closed by the server") }
    if !pulse.isProven { return fail(RPCCallError(transport: tls.failure(reason))) }
    failBroken("broke: \(reason)")
  }

  private func take(_ content: UnsafeRawBufferPointer) {
    if !hasReceived {
      hasReceived = true
      if content.starts(with: "HTTP/1".utf8) {
        return fail(RPCCallError(transport: .noHTTP2(authority)))
      }
    }
    do throws(HTTP2Session.Failure) {
      try session?.receive(content)
    } catch {
      return fail(breaking: error.reason)
    }
    if session?.isTerminated == true { breakOff() }
  }

  /// Ends the connection, and tries once to tell the server which rule the server broke.
  private func breakOff() {
    fill()
    if !bytes.isSent { _ = bytes.send() }
    fail(breaking: session?.brokenRule ?? "which rule it broke is not known")
  }

  /// Ends a connection on which far more bytes than content arrived, and tells the server why.
  private func breakOffFlood() {
    session?.terminate(.enhanceYourCalm)
    fill()
    if !bytes.isSent { _ = bytes.send() }
    fail(
      RPCCallError(
        .resourceExhausted,
        "\(authority) sent far more bytes than the content of its answers needs: more than "
          + "\(ContentMeter.allowance) bytes plus \(ContentMeter.bytesEach) for each byte of content"
      ))
  }

  // MARK: Sending

  /// Sends as much as the socket accepts.
  func flush() {
    while failure == nil {
      fill()
      guard !bytes.isSent else { break }
      switch bytes.send() {
      case .bytes: break
      case .wait: return bytes.watch(isBlocked: true)
      case .end: return failBroken("was closed by the server")
      case .failed(let errno):
        readLastWords()
        return failBroken("broke: \(CLibrary.meaning(of: errno))")
      }
    }
    bytes.watch(isBlocked: false)
    closeIfOver()
  }

  private func fill() {
    if let reason = bytes.refill(from: session) { failBroken("broke: \(reason)") }
  }

  /// Reads what the server sent before it closed the connection, such as an answer or a reason.
  private func readLastWords() {
    if isOver { return }
    isOver = true
    for _ in 0..<Self.turns where failure == nil {
      guard case .bytes = bytes.receive() else { return }
      takeArrived()
    }
  }
}

extension SQOAuthError {
  static func noHTTP2(_ authority: String, _ rule: String? = nil) -> Self {
    let reason = rule.map { ": \($0)" } ?? ""
    return Self(.invalidResponse, "\(authority) does not speak HTTP/2\(reason)")
  }
}
