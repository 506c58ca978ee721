import SQBasics
import SQHTTP2
import SequencingOAuth

/// The handlers for the events of the HTTP/2 session.
extension RPCConnection: HTTP2SessionOwner {
  func sectionBegins(of stream: Int32) {
    streams[stream]?.sectionBegins()
  }

  func received(
    _ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, of stream: Int32
  ) -> Bool {
    guard let attempt = streams[stream] else { return true }
    if attempt.take(name, value) { return true }
    // The return value `false` makes nghttp2 reset the stream.
    forget(attempt)
    return false
  }

  func sectionEnds(of stream: Int32, isEnd: Bool) {
    guard let attempt = streams[stream] else { return }
    attempt.sectionEnds()
    hasAnswered = true
    if isEnd { finish(attempt) }
  }

  func received(_ content: UnsafeRawBufferPointer, of stream: Int32) {
    session?.consumeOfConnection(content.count)
    guard let attempt = streams[stream] else {
      session?.consume(content.count, of: stream)
      return
    }
    session?.consume(attempt.take(content), of: stream)
    if attempt.result != nil { drop(attempt) }
  }

  func contentEnds(of stream: Int32) {
    if let attempt = streams[stream] { finish(attempt) }
  }

  /// Ends an attempt whose answer is complete, even if the request was not sent completely.
  private func finish(_ attempt: RPCStream) {
    attempt.finish()
    if session?.isSending(attempt.id) == true { drop(attempt) } else { forget(attempt) }
  }

  func content(
    of stream: Int32, into buffer: UnsafeMutableRawBufferPointer
  ) -> HTTP2Session.Piece {
    // A forgotten stream is reset; its end would tell the server that the request is complete.
    streams[stream]?.content(into: buffer) ?? .wait
  }

  func hasOpened(_ stream: Int32) {
    streams[stream]?.isSent = true
  }

  func notOpened(_ stream: Int32, isTooLarge: Bool) {
    guard let attempt = streams[stream] else { return }
    if isTooLarge {
      attempt.end(
        RPCCallError(
          .resourceExhausted, "the call was not sent: its metadata is larger than 64 KiB"))
      return forget(attempt)
    }
    streams[stream] = nil
    moved.append(attempt)
  }

  func closed(_ stream: Int32, _ code: HTTP2ErrorCode, isRemote: Bool) {
    guard let attempt = streams[stream] else { return }
    // After a GOAWAY frame, nghttp2 uses this code for streams that the server has not begun.
    if code == .refusedStream, attempt.isMovable {
      streams[stream] = nil
      moved.append(attempt)
      return
    }
    attempt.end(error(of: attempt, code, isRemote: isRemote))
    forget(attempt)
  }

  private func error(
    of attempt: RPCStream, _ code: HTTP2ErrorCode, isRemote: Bool
  ) -> RPCCallError {
    if isRemote {
      // The server also knows the call's time limit, and may end the call before this client does.
      if code == .cancel, attempt.deadline <= Monotonic.now() { return .timeIsUp }
      return RPCCallError(
        HTTPMapping.status(ofReset: code), "\(authority) reset the call: \(code)",
        isFromServer: true)
    }
    if code == .refusedStream {
      return RPCCallError(
        .unavailable,
        "\(authority) closes the connection and did not take the call: \(farewell ?? "\(code)")")
    }
    let rule = attempt.brokenRule ?? "\(code)"
    return RPCCallError(.internal, "the answer of \(authority) does not keep to HTTP/2: \(rule)")
  }

  func receivedSettings() {
    pulse.isProven = true
  }

  func receivedGoAway(_ code: HTTP2ErrorCode, debug: UnsafeRawBufferPointer) {
    var text = Self.words(of: debug)
    if !text.isEmpty {
      // The text comes into the errors of all calls on the connection, and may repeat the token of
      // any of them.
      let secrets = Set(streams.values.flatMap(\.secrets.texts))
      text = SentSecrets(Array(secrets)).removed(from: text)
    }
    if code == .enhanceYourCalm { pulse.slowDown() }
    sayGoodbye(text.isEmpty ? "\(code)" : "\(code) (\(text))")
  }

  /// Returns a server's words, cut off after at most 100 characters.
  ///
  /// No word is cut: the text may repeat a call's token, and only a whole token can be found and
  /// removed.
  private static func words(of debug: UnsafeRawBufferPointer) -> String {
    let text = String(decoding: debug, as: UTF8.self).printable(atMost: 101)
    guard text.unicodeScalars.count > 100 else { return text }
    return text.lastIndex(of: " ").map { String(text[..<$0]) } ?? ""
  }

  func receivedPong() {
    pulse.isAnswered()
  }

  func receivedInvalid(_ reason: String, of stream: Int32) {
    streams[stream]?.brokenRule = reason
  }
}
