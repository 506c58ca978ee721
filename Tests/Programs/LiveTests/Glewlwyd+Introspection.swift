import Foundation
import ProgramSupport
import SequencingOAuth
import TestSupport

extension Glewlwyd {
  /// The server's introspection answer (RFC 7662, section 2.2).
  struct Introspection: Decodable, Sendable {
    let active: Bool
    let username: String?
    let clientID: String?
    let scope: String?

    private enum CodingKeys: String, CodingKey {
      case active
      case username
      case clientID = "client_id"
      case scope
    }
  }

  /// Asks the server about a token.
  ///
  /// The token also authorizes the request, so it needs the scope `read`.
  func introspect(_ token: String) async throws -> Introspection {
    guard let url = URL(string: issuer + "/introspect") else { throw URLError(.badURL) }
    let request = WebRequest(
      method: "POST", url: url,
      headers: [
        "Authorization": "Bearer \(token)", "Content-Type": "application/x-www-form-urlencoded",
      ], body: .bytes(Data("token=\(token)".utf8)))
    let response = try await CurlTransport.shared.send(request)
    return try JSONDecoder().decode(Introspection.self, from: response.body)
  }
}
