import Basics
package import HTTP2

/// A complete request, and the means to answer it from any thread.
package final class HTTP2Exchange: Sendable, Redacted {
  package typealias Field = (name: String, value: String)

  /// The fields in order, with `:method`, `:path` and the like before the others.
  package let fields: [Field]
  package let body: [UInt8]
  /// Raised when the exchange is over.
  let closing = Interruption()
  private let server: HTTP2Server
  private let socket: Int32
  private let stream: Int32

  init(
    _ server: HTTP2Server, _ socket: Int32, _ stream: Int32, fields: [Field], body: [UInt8]
  ) {
    self.server = server
    self.socket = socket
    self.stream = stream
    self.fields = fields
    self.body = body
  }

  /// The path, without the fields and the body.
  package var description: String { self[":path"] ?? "a request without a path" }

  /// The value of the first field with a name in lower case.
  package subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

  /// Sets what is done when the exchange is over, by its answer or because the client left.
  package func whenClosed(_ action: @escaping @Sendable () -> Void) {
    closing.whenRaised(action)
  }

  /// Sends the head of the answer; without content, it is the whole answer.
  package func respond(_ head: HeaderBlock, hasContent: Bool = true) {
    server.act(on: socket) { $0.respond(to: stream, head, hasContent: hasContent) }
  }

  /// Sends a piece of content.
  package func write(_ bytes: [UInt8]) {
    server.act(on: socket) { $0.write(bytes, to: stream) }
  }

  /// Ends the content, with trailers behind it or without.
  package func end(_ trailers: HeaderBlock? = nil) {
    server.act(on: socket) { $0.end(stream, trailers) }
  }

  /// Ends the exchange before its time.
  package func reset(_ code: HTTP2ErrorCode) {
    server.act(on: socket) { $0.reset(stream, code) }
  }

  /// Announces to the client that its connection takes no further request.
  package func shutDownConnection() {
    server.act(on: socket) { $0.shutDown() }
  }
}
