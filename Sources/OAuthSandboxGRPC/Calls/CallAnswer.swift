import OAuthSandbox
import SQBasics
import SQHTTP2
import SQLoopbackHTTP2

/// The answer to a call: a head before the first message, messages, and the status at the end.
final class CallAnswer: Sendable {
  private let exchange: HTTP2Exchange
  private let sandbox: SandboxServer
  private let hasHead = Locked(false)

  init(_ exchange: HTTP2Exchange, of sandbox: SandboxServer) {
    self.exchange = exchange
    self.sandbox = sandbox
  }

  /// The head; its date is from the sandbox's clock, and clients date their proofs by it.
  private var head: HeaderBlock {
    HeaderBlock([
      ":status": "200", "content-type": "application/grpc",
      // Clients must not compress messages.
      "grpc-accept-encoding": "identity", "date": sandbox.httpDate,
    ])
  }

  /// Sends a message, and returns when the client can receive another message.
  func send(_ message: [UInt8]) async throws(CallStatus) {
    sendHead()
    exchange.write(MessageFrame.bytes(message))
    guard await exchange.drained() else { throw .cancelled }
  }

  private func sendHead() {
    let isFirst = hasHead.withLock { hasHead in
      defer { hasHead = true }
      return !hasHead
    }
    if isFirst { exchange.respond(head) }
  }

  /// Ends the call with a status.
  ///
  /// If the call fails before its first message, the answer is a single header section.
  func end(_ status: CallStatus) {
    guard status.code == .ok || hasHead.withLock(\.self) else {
      var head = head
      for (name, value) in status.trailers.fields { head.append(name, value) }
      exchange.respond(head, hasContent: false)
      return
    }
    sendHead()
    exchange.end(status.trailers)
  }

  /// Rejects a request that is not gRPC, with an HTTP status and one header field.
  func refuse(_ status: Int, _ name: String, _ value: String) {
    let hasContent = exchange[":method"] != "HEAD"
    exchange.respond(
      HeaderBlock([
        ":status": "\(status)", name: value, "content-type": "text/plain; charset=utf-8",
        "date": sandbox.httpDate,
      ]), hasContent: hasContent)
    guard hasContent else { return }
    exchange.write([UInt8]("This server speaks gRPC only.\n".utf8))
    exchange.end()
  }
}
