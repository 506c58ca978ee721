package import SQBasics
package import SQHTTP2

/// A request whose fields have come, and the means to answer it from any thread.
package final class HTTP2Exchange: Sendable {
  package typealias Field = (name: String, value: String)

  /// What became of the content of a request.
  package enum Content: Sendable, Equatable {
    case whole([UInt8])
    /// There is more of it than the server's limits allow; the rest is not kept.
    case tooLarge
    /// The exchange was over before the content was complete.
    case cut
  }

  /// The fields in order, with `:method`, `:path` and the like before the others.
  package let fields: [Field]
  /// The content of the request, when it is complete or known to be incomplete for ever.
  package let content = OneShot<Content>()
  /// Raised when the exchange is over, by its answer or because the client left.
  package let whenClosed = Interruption()
  private let server: HTTP2Server
  let place: HTTP2ServerConnection.Place
  private let stream: Int32

  init(
    _ server: HTTP2Server, _ place: HTTP2ServerConnection.Place, _ stream: Int32, fields: [Field]
  ) {
    self.server = server
    self.place = place
    self.stream = stream
    self.fields = fields
  }

  /// The value of the first field with a name in lower case.
  package subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

  /// Sends the head of the answer; without content, it is the whole answer.
  package func respond(_ head: HeaderBlock, hasContent: Bool = true) {
    server.act(at: place) { $0.respond(to: stream, head, hasContent: hasContent) }
  }

  /// Sends a piece of content.
  package func write(_ bytes: [UInt8]) {
    server.act(at: place) { $0.write(bytes, to: stream) }
  }

  /// Waits until all content that was written is on its way, so that no more of it piles up than
  /// the client takes.
  ///
  /// Returns `false` if the exchange is over, or if the waiting task is cancelled.
  package func drained() async -> Bool {
    let isDrained = OneShot<Bool>()
    let isOpen = server.act(at: place) { $0.tell(isDrained, whenDrained: stream) }
    guard isOpen else { return false }
    return await isDrained.value() ?? false
  }

  /// Ends the content, with trailers behind it or without.
  package func end(_ trailers: HeaderBlock? = nil) {
    server.act(at: place) { $0.end(stream, trailers) }
  }

  /// Ends the exchange before its time.
  package func reset(_ code: HTTP2ErrorCode) {
    server.act(at: place) { $0.reset(stream, code) }
  }

  /// Announces to the client that its connection takes no further request.
  package func shutDownConnection() {
    server.act(at: place) { $0.shutDown() }
  }
}
