import Foundation
import SQBasics
import SequencingOAuth

@testable import TestSupport

/// An HTTP client that sends requests as the SDK does, and records them with their answers.
final class SentRequests: HTTPTransport {
  /// A request with its proof, its form and its answer.
  struct Exchange: Sendable {
    let request: WebRequest
    let proof: SentProof?
    let response: WebResponse

    var form: [String: String] { ScriptedTransport.form(of: request) ?? [:] }
    var authorization: String { request.headers["Authorization"] ?? "" }
  }

  private let exchanges = Locked<[Exchange]>([])

  /// An endpoint's exchanges, found by the last part of its path, in the order of their answers.
  subscript(endpoint: String) -> [Exchange] {
    exchanges.withLock { $0.filter { $0.request.url.lastPathComponent == endpoint } }
  }

  func forget() { exchanges.withLock { $0 = [] } }

  func send(_ request: WebRequest) async throws -> WebResponse {
    let proof = try SentProof(request)
    let response = try await CurlTransport.shared.send(request)
    exchanges.withLock {
      $0.append(Exchange(request: request, proof: proof, response: response))
    }
    return response
  }
}
