import Foundation
import LoopbackSupport
import SQBasics
import SQHTTP2
import SQLoopbackHTTP2
import SequencingOAuth

@testable import SequencingOAuthGRPC

/// An HTTP/2 server that sends any answers, even some that no gRPC server would send.
final class ScriptedServer: Sendable {
  /// A request that the server received.
  struct Request: Sendable {
    let headers: HeaderFields
    let body: Data
  }

  private final class Log: Sendable {
    let requests = Locked<[Request]>([])
  }

  private let server: HTTP2Server
  private let log = Log()

  private init(_ answer: @escaping @Sendable (Request) -> WebResponse) throws {
    server = try HTTP2Server { [log] exchange in
      Task {
        guard case .whole(let body) = await exchange.content.wait() else { return }
        let request = Request(
          headers: HeaderFields(
            exchange.fields.map { HeaderFields.Field(name: $0.name, value: $0.value) }),
          body: Data(body))
        log.requests.withLock { $0.append(request) }
        exchange.send(answer(request))
      }
    }
  }

  /// Runs a body with a server, and stops the server afterwards.
  static func running(
    _ answer: @escaping @Sendable (Request) -> WebResponse,
    isolation: isolated (any Actor)? = #isolation,
    _ body: (ScriptedServer) async throws -> Void
  ) async throws {
    let server = try ScriptedServer(answer)
    defer { server.server.stop() }
    try await body(server)
  }

  /// Runs a body with a server that gives the same answer to every request.
  static func answering(
    _ response: WebResponse, isolation: isolated (any Actor)? = #isolation,
    _ body: (ScriptedServer) async throws -> Void
  ) async throws {
    try await running({ _ in response }, body)
  }

  /// The requests that the server has received.
  var requests: [Request] { log.requests.withLock(\.self) }

  /// Returns a channel to the server.
  func channel(
    credential: RPCCredential = .none, options: RPCOptions = RPCOptions()
  ) throws -> RPCChannel {
    guard let url = URL(string: "http://127.0.0.1:\(server.port)") else {
      throw URLError(.badURL)
    }
    return try RPCChannel(
      url: url, credential: credential, options: options, configuration: .direct)
  }
}

extension HTTP2Exchange {
  /// Sends a complete answer.
  func send(_ response: WebResponse) {
    var head = HeaderBlock([":status": "\(response.status)"])
    for field in response.headers { head.append(field.name.lowercased(), field.value) }
    if response.body.isEmpty, response.trailers.isEmpty {
      respond(head, hasContent: false)
      return
    }
    respond(head)
    write([UInt8](response.body))
    guard !response.trailers.isEmpty else {
      end()
      return
    }
    var trailers = HeaderBlock()
    for field in response.trailers { trailers.append(field.name.lowercased(), field.value) }
    end(trailers)
  }
}

extension WebResponse {
  /// Returns a gRPC answer with a body, additional headers and trailers.
  static func grpc(
    _ body: [UInt8] = [0, 0, 0, 0, 0], headers: HeaderFields = [:],
    trailers: HeaderFields = ["grpc-status": "0"]
  ) -> WebResponse {
    var all: HeaderFields = ["content-type": "application/grpc"]
    for field in headers { all[field.name] = field.value }
    return WebResponse(status: 200, headers: all, body: Data(body), trailers: trailers)
  }
}
