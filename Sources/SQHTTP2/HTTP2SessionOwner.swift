/// What an ``HTTP2Session`` tells and asks; it calls only while one of its methods runs.
package protocol HTTP2SessionOwner: AnyObject {
  /// A header section of a stream begins: a request's, a response's, or trailers.
  func sectionBegins(of stream: Int32)

  /// A field of the section arrived; `false` resets the stream.
  func received(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, of stream: Int32)
    -> Bool

  /// The header section is complete; with `isEnd`, nothing follows it.
  func sectionEnds(of stream: Int32, isEnd: Bool)

  /// A piece of content arrived. The owner says with ``HTTP2Session/consume(_:of:)`` when the other
  /// side may send as much again.
  func received(_ content: UnsafeRawBufferPointer, of stream: Int32)

  /// The content of a stream is complete, and nothing follows it.
  func contentEnds(of stream: Int32)

  /// Copies the next piece of a stream's content into a buffer.
  func content(of stream: Int32, into buffer: UnsafeMutableRawBufferPointer) -> HTTP2Session.Piece

  /// The header section that opens a stream was passed to the network.
  func hasOpened(_ stream: Int32)

  /// A stream is closed; `isRemote` says whether the other side has reset it.
  func closed(_ stream: Int32, _ code: HTTP2ErrorCode, isRemote: Bool)

  /// A stream could not be opened: its header section is too large to be sent or, if not, the
  /// connection takes no further stream.
  func notOpened(_ stream: Int32, isTooLarge: Bool)

  /// The other side's settings arrived.
  func receivedSettings()

  /// The other side opens no further stream, or takes none; `debug` is its text, for a person.
  func receivedGoAway(_ code: HTTP2ErrorCode, debug: UnsafeRawBufferPointer)

  /// The answer to a ping arrived.
  func receivedPong()

  /// The other side broke a rule of the protocol with a frame of a stream, in nghttp2's words.
  ///
  /// The stream is then closed or, if ``HTTP2Session/isTerminated``, the whole connection.
  func receivedInvalid(_ reason: String, of stream: Int32)
}
