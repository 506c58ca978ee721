import Basics
import Foundation
import SequencingOAuth

@testable import SequencingOAuthGRPC

/// A transport that answers as a test says: for answers that no gRPC server would give.
final class ScriptedClient: HTTPClient {
  private let answer: @Sendable (HTTPRequest) async throws -> HTTPResponse
  private let sent = Locked<[HTTPRequest]>([])

  init(_ answer: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse) {
    self.answer = answer
  }

  var requests: [HTTPRequest] { sent.withLock(\.self) }

  func send(_ request: HTTPRequest) async throws -> HTTPResponse {
    sent.withLock { $0.append(request) }
    var response = try await answer(request)
    if case .stream(let consume) = request.destination {
      try await consume(response.head, Data())
      if !response.body.isEmpty { try await consume(response.head, response.body) }
      response.body = Data()
    }
    return response
  }
}

extension RPCChannel {
  /// A channel whose server gives this answer.
  static func answering(
    _ response: HTTPResponse, credential: RPCCredential = .none
  ) throws -> RPCChannel {
    try scripted(credential: credential) { _ in response }
  }

  static func scripted(
    _ url: String = "https://rpc.example", credential: RPCCredential = .none,
    _ answer: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse
  ) throws -> RPCChannel {
    guard let url = URL(string: url) else { throw URLError(.badURL) }
    return try RPCChannel(url: url, credential: credential, client: ScriptedClient(answer))
  }

  var requests: [HTTPRequest] { (client as? ScriptedClient)?.requests ?? [] }
}

extension HTTPResponse {
  /// An answer of gRPC with these trailers.
  static func grpc(
    _ body: [UInt8] = [0, 0, 0, 0, 0], headers: HTTPFields = [:],
    trailers: HTTPFields = ["grpc-status": "0"]
  ) -> HTTPResponse {
    var all: HTTPFields = ["content-type": "application/grpc"]
    for field in headers { all[field.name] = field.value }
    return HTTPResponse(status: 200, headers: all, body: Data(body), trailers: trailers)
  }
}
