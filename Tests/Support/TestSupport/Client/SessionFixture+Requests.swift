import Foundation
import SQBasics
import SequencingOAuth

extension WebRequest {
  static func get(_ url: String) throws -> WebRequest {
    guard let url = URL(string: url) else { throw URLError(.badURL) }
    return WebRequest(url: url)
  }
}

extension SessionFixture {
  /// Answers all requests except those to the token endpoint with a closure.
  func api(_ answer: @escaping @Sendable (WebRequest) async throws -> WebResponse) {
    let server = server
    fixture.http.answer { request in
      request.url.path() == "/token"
        ? try await server.answer(request) : try await answer(request)
    }
  }

  /// The requests that were sent to an API.
  var apiRequests: [WebRequest] {
    fixture.http.requests.filter { $0.url.path() != "/token" }
  }
}
