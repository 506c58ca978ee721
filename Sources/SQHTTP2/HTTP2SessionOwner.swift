/// The receiver of an ``HTTP2Session``'s events, which also provides the content to send.
///
/// The session calls these methods only while one of its own methods runs.
package protocol HTTP2SessionOwner: AnyObject {
  /// The header section or the trailer section of a stream begins.
  func sectionBegins(of stream: Int32)

  /// A field of a header or trailer section arrived; return `false` to reset the stream.
  func received(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, of stream: Int32)
    -> Bool

  /// A header or trailer section is complete; if `isEnd` is `true`, nothing follows on the stream.
  func sectionEnds(of stream: Int32, isEnd: Bool)

  /// A piece of content arrived.
  ///
  /// The owner calls ``HTTP2Session/consume(_:of:)`` and
  /// ``HTTP2Session/consumeOfConnection(_:)`` when the other side may send as much again.
  func received(_ content: UnsafeRawBufferPointer, of stream: Int32)

  /// The content of a stream is complete, and nothing follows it.
  func contentEnds(of stream: Int32)

  /// Copies the next piece of a stream's content into a buffer.
  func content(of stream: Int32, into buffer: UnsafeMutableRawBufferPointer) -> HTTP2Session.Piece

  /// The header section that opens a stream was put into the output.
  func hasOpened(_ stream: Int32)

  /// A stream is closed; `isRemote` is `true` if the other side reset it.
  func closed(_ stream: Int32, _ code: HTTP2ErrorCode, isRemote: Bool)

  /// A stream could not be opened.
  ///
  /// If `isTooLarge` is `true`, its header section is too large to send. Otherwise, the connection
  /// accepts no further streams.
  func notOpened(_ stream: Int32, isTooLarge: Bool)

  /// The other side's settings arrived.
  func receivedSettings()

  /// The other side ends the connection (a GOAWAY frame); `debug` is its text for people to read.
  func receivedGoAway(_ code: HTTP2ErrorCode, debug: UnsafeRawBufferPointer)

  /// The answer to a ping arrived.
  func receivedPong()

  /// The other side broke a protocol rule with a frame of a stream; `reason` is nghttp2's text.
  ///
  /// The session then closes the stream. If ``HTTP2Session/isTerminated`` is `true`, it ends the
  /// whole connection.
  func receivedInvalid(_ reason: String, of stream: Int32)
}

// Only a client needs these events: it opens streams, and tells the app why they failed.
extension HTTP2SessionOwner {
  package func hasOpened(_ stream: Int32) {}
  package func notOpened(_ stream: Int32, isTooLarge: Bool) {}
  package func receivedSettings() {}
  package func receivedGoAway(_ code: HTTP2ErrorCode, debug: UnsafeRawBufferPointer) {}
  package func receivedPong() {}
  package func receivedInvalid(_ reason: String, of stream: Int32) {}
}
