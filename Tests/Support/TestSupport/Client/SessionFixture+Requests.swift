import Foundation
import SQBasics
import SequencingOAuth

extension HTTPRequest {
  /// A request for a URL that a test spells out.
  static func get(_ url: String) throws -> HTTPRequest {
    guard let url = URL(string: url) else { throw URLError(.badURL) }
    return HTTPRequest(url: url)
  }
}

extension SessionFixture {
  /// Answers requests to anything but the token endpoint in this way.
  func api(_ answer: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse) {
    let server = server
    fixture.http.answer { request in
      request.url.path() == "/token"
        ? try await server.answer(request) : try await answer(request)
    }
  }

  /// The requests that went to an API.
  var apiRequests: [HTTPRequest] {
    fixture.http.requests.filter { $0.url.path() != "/token" }
  }
}
