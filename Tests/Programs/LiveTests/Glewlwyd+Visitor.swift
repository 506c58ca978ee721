import Foundation
import ProgramSupport
import SequencingOAuth
import TestSupport

extension Glewlwyd {
  /// A step that failed at glewlwyd for a user without a browser.
  struct VisitError: Error {
    let step: String
    let status: Int
  }

  /// Acts as a user with HTTP requests only: logs in, grants the scopes and calls the redirect.
  ///
  /// Tests of the pages themselves use a browser instead.
  func visit(_ url: URL, as user: User, granting scopes: [String], to client: Client) async throws {
    let cookie = try await logIn(user)
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

  /// Confirms the logout as a user, at an address of the end session endpoint.
  ///
  /// The method makes the requests of the script on glewlwyd's page, and calls the redirect if the
  /// page has one.
  func confirmLogout(_ url: URL, as user: User) async throws {
    let cookie = try await logIn(user)
    let answer = try await send("GET", url.absoluteString, cookie: cookie, status: 302)
    let items = URLComponents(string: answer.headers["Location"] ?? "")?.queryItems ?? []
    let page = Dictionary(items.map { ($0.name, $0.value ?? "") }) { first, _ in first }
    guard page["prompt"] == "end_session", let session = page["sid"] else {
      throw VisitError(step: "the logout page", status: answer.status)
    }
    _ = try await send("DELETE", "\(issuer)/session/\(session)", cookie: cookie)
    _ = try await send("DELETE", api + "/auth/", cookie: cookie)
    if let redirect = page["callback_url"] { _ = try await send("GET", redirect) }
  }

  private var api: String { issuer.replacing("/oidc", with: "") }

  /// Returns the cookie of the user's session.
  private func logIn(_ user: User) async throws -> String {
    let login = try await send(
      "POST", api + "/auth/", json: ["username": user.rawValue, "password": user.password])
    return login.headers.values(for: "Set-Cookie")
      .map { String($0.prefix { $0 != ";" }) }.joined(separator: "; ")
  }

  private func send(
    _ method: String, _ address: String, cookie: String? = nil, json: [String: String]? = nil,
    status: Int = 200
  ) async throws -> WebResponse {
    guard let url = URL(string: address) else { throw URLError(.badURL) }
    var request = WebRequest(method: method, url: url)
    request.headers["Cookie"] = cookie
    if let json {
      request.headers["Content-Type"] = "application/json"
      request.body = .bytes(try JSONEncoder().encode(json))
    }
    let response = try await CurlTransport.shared.send(request)
    guard response.status == status else {
      throw VisitError(step: "\(method) \(url.path())", status: response.status)
    }
    return response
  }
}
