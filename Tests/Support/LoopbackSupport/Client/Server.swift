import Foundation
import SQBasics
import SQLoopback
import SequencingOAuth
import Testing

/// A loopback server for one test, and the requests that it received.
final class Server: Sendable {
  let loopback: LoopbackServer
  private let recorder: Recorder

  /// Starts a server on a given port or, by default, on a free one.
  ///
  /// The handler gets each request and the number of earlier ones.
  init(
    address: LoopbackAddress = .ipv4, port: UInt16 = 0,
    handler: @escaping @Sendable (LoopbackRequest, Int) async -> LoopbackReply
  ) throws {
    let recorder = Recorder()
    var limits = LoopbackLimits()
    // On a busy machine, a request must not time out, and the server must notice that clients have
    // left.
    limits.connections = 8_192
    limits.requestTime = .seconds(60)
    loopback = try LoopbackServer(address: address, port: port, limits: limits) { request in
      await handler(request, recorder.add(request))
    }
    self.recorder = recorder
  }

  /// Starts a server that answers every request with this text, and then closes the connection.
  static func saying(_ text: String) throws -> Server {
    try Server { _, _ in .script([.send(Data(text.utf8))]) }
  }

  /// Starts a server that answers every request with this script.
  static func playing(_ steps: [LoopbackStep]) throws -> Server {
    try Server { _, _ in .script(steps) }
  }

  /// Starts a server that answers every request with this response.
  static func answering(
    _ status: Int = 200, _ headers: [(name: String, value: String)] = [], _ body: String = "hello"
  ) throws -> Server {
    try Server { _, _ in
      .response(LoopbackResponse(status: status, headers: headers, body: Data(body.utf8)))
    }
  }

  var requests: [LoopbackRequest] { recorder.requests }

  func url(_ path: String = "/") throws -> URL {
    try #require(URL(string: "http://\(loopback.authority)\(path)"))
  }

  func request(_ method: String = "GET", _ path: String = "/") throws -> WebRequest {
    WebRequest(method: method, url: try url(path))
  }

  private final class Recorder: Sendable {
    private let state = Locked<[LoopbackRequest]>([])

    var requests: [LoopbackRequest] { state.withLock { $0 } }

    func add(_ request: LoopbackRequest) -> Int {
      state.withLock {
        $0.append(request)
        return $0.count - 1
      }
    }
  }
}

extension WebResponse {
  var text: String { String(decoding: body, as: UTF8.self) }
}
