import Foundation
import SequencingOAuth
import TestSupport

extension Glewlwyd {
  /// What glewlwyd did not do for a user without a browser.
  struct VisitError: Error {
    let step: String
    let status: Int
  }

  /// Plays a user by HTTP alone: logs in, grants the scopes and calls the redirect.
  ///
  /// For tests that are not about the pages, which a browser is for.
  func visit(_ url: URL, as user: User, granting scopes: [String], to client: Client) async throws {
    let api = issuer.replacing("/oidc", with: "")
    let login = try await send(
      "POST", api + "/auth/", json: ["username": user.rawValue, "password": user.password])
    let cookie = login.headers.values(for: "Set-Cookie")
      .map { String($0.prefix { $0 != ";" }) }.joined(separator: "; ")
    _ = try await send(
      "PUT", api + "/auth/grant/\(client.rawValue)/", cookie: cookie,
      json: ["scope": scopes.joined(separator: " ")])
    let answer = try await send(
      "GET", url.absoluteString + "&g_continue", cookie: cookie, status: 302)
    guard let redirect = answer.headers["Location"] else {
      throw VisitError(step: "the redirect", status: answer.status)
    }
    _ = try await send("GET", redirect)
  }

  private func send(
    _ method: String, _ address: String, cookie: String? = nil, json: [String: String]? = nil,
    status: Int = 200
  ) async throws -> HTTPResponse {
    guard let url = URL(string: address) else { throw URLError(.badURL) }
    var request = HTTPRequest(method: method, url: url)
    request.headers["Cookie"] = cookie
    if let json {
      request.headers["Content-Type"] = "application/json"
      request.body = .bytes(try JSONEncoder().encode(json))
    }
    let response = try await CurlHTTPClient.shared.send(request)
    guard response.status == status else {
      throw VisitError(step: "\(method) \(url.path())", status: response.status)
    }
    return response
  }
}
