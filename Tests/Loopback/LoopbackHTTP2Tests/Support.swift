import LoopbackSupport
import SQBasics
import SQHTTP2
import SQLoopbackHTTP2
import TestSupport

/// A server that keeps every exchange so that the test can answer it.
final class KeepingServer: Sendable {
  private final class Kept: Sendable {
    let exchanges = Locked<[HTTP2Exchange]>([])
  }

  let server: HTTP2Server
  private let kept = Kept()

  private init(_ limits: HTTP2ServerLimits) throws {
    server = try HTTP2Server(limits: limits) { [kept] exchange in
      kept.exchanges.withLock { $0.append(exchange) }
    }
  }

  /// Runs `body` with a server and stops the server afterwards.
  static func running(
    _ change: (inout HTTP2ServerLimits) -> Void = { _ in },
    isolation: isolated (any Actor)? = #isolation,
    _ body: (KeepingServer) async throws -> Void
  ) async throws {
    var limits = HTTP2ServerLimits()
    change(&limits)
    let server = try KeepingServer(limits)
    defer { server.server.stop() }
    try await body(server)
  }

  /// Waits for the exchange at `index`, counted from 0.
  func exchange(_ index: Int) async throws -> HTTP2Exchange {
    try await eventually("exchange \(index) arrives") {
      kept.exchanges.withLock { $0.count > index ? $0[index] : nil }
    }
  }

  var count: Int { kept.exchanges.withLock(\.count) }

  func connect(greets: Bool = true) throws -> RawHTTP2Client {
    try RawHTTP2Client(port: server.port, greets: greets)
  }
}

extension RawHTTP2Client {
  /// Opens a stream with a request for `path`.
  func ask(_ stream: UInt32, _ path: String = "/", ends: Bool = true) {
    open(
      stream,
      [(":method", "POST"), (":scheme", "http"), (":path", path), (":authority", "test")],
      ends: ends)
  }
}

extension HTTP2Exchange {
  /// Sends a complete answer with `text` as its content.
  func answer(_ text: String) {
    respond([":status": "200"])
    write([UInt8](text.utf8))
    end()
  }

  func respond(_ fields: KeyValuePairs<String, String>) {
    respond(HeaderBlock(fields))
  }

  /// Waits until the exchange has ended.
  func closed() async throws {
    try await eventually("the exchange is over") { whenClosed.isRaised }
  }
}
