import Foundation
import SQBasics
import SequencingOAuth

extension HTTPRequest {
  /// Returns a request for a URL.
  static func get(_ url: String) throws -> HTTPRequest {
    guard let url = URL(string: url) else { throw URLError(.badURL) }
    return HTTPRequest(url: url)
  }
}

extension SessionFixture {
  /// Answers all requests except those to the token endpoint with a closure.
  func api(_ answer: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse) {
    let server = server
    fixture.http.answer { request in
      request.url.path() == "/token"
        ? try await server.answer(request) : try await answer(request)
    }
  }

  /// The requests that were sent to an API.
  var apiRequests: [HTTPRequest] {
    fixture.http.requests.filter { $0.url.path() != "/token" }
  }
}
