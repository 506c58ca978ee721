package import SQBasics
package import SQHTTP2

/// A request whose header fields have arrived; any thread can answer it.
package final class HTTP2Exchange: Sendable {
  package typealias Field = (name: String, value: String)

  /// The content of a request, or the reason why it is incomplete.
  package enum Content: Sendable, Equatable {
    case whole([UInt8])
    /// The content exceeds the server's limits and was dropped.
    case tooLarge
    /// The exchange ended before the content was complete.
    case cut
  }

  /// The fields in order; pseudo-header fields such as `:method` and `:path` come first.
  package let fields: [Field]
  /// The content of the request, set when it is complete or can no longer become complete.
  package let content = OneShot<Content>()
  /// An interruption that is raised when the exchange ends, either with the answer or because the
  /// client cancelled it.
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

  /// The port of the server that received the request.
  package var port: UInt16 { server.port }

  /// The value of the first field with this name, or `nil`; the name must be in lower case.
  package subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

  /// Sends the head of the answer; if `hasContent` is `false`, the answer is complete.
  package func respond(_ head: HeaderBlock, hasContent: Bool = true) {
    server.act(at: place) { $0.respond(to: stream, head, hasContent: hasContent) }
  }

  /// Sends a piece of content.
  package func write(_ bytes: [UInt8]) {
    server.act(at: place) { $0.write(bytes, to: stream) }
  }

  /// Waits until the connection has taken all written content.
  ///
  /// Call it between writes, so that unsent content does not pile up. The result is `false` if the
  /// exchange is over or if the waiting task is cancelled.
  package func drained() async -> Bool {
    let isDrained = OneShot<Bool>()
    let isOpen = server.act(at: place) { $0.tell(isDrained, whenDrained: stream) }
    guard isOpen else { return false }
    return await isDrained.value() ?? false
  }

  /// Ends the content, optionally with trailers after it.
  package func end(_ trailers: HeaderBlock? = nil) {
    server.act(at: place) { $0.end(stream, trailers) }
  }

  /// Ends the exchange early by resetting its stream.
  package func reset(_ code: HTTP2ErrorCode) {
    server.act(at: place) { $0.reset(stream, code) }
  }
}
