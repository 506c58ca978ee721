import Foundation
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// A client of GitHub, at servers that answer as GitHub's documentation says.
@Suite("At GitHub", .timeLimit(.minutes(1))) struct GitHubTests {
  private func party(_ token: String = gitHubApp) throws -> PlayedProvider {
    try PlayedProvider { party in
      [
        "POST github.com/login/oauth/access_token": { request in
          // Without this field GitHub answers with a form.
          #expect(request.headers["Accept"] == "application/json")
          let form = try #require(ScriptedTransport.form(of: request))
          #expect(form["client_id"] == "client" && form["client_secret"] == "s")
          #expect(request.headers["Authorization"] == nil)
          return try await party.tokens(
            refused: #"{"error":"bad_refresh_token","error_description":"Incorrect or expired."}"#,
            status: 200
          ) { token.replacing("#", with: "\($0)") }(request)
        },
        "DELETE api.github.com/applications/client/token": { request in
          let basic = "Basic " + Data("client:s".utf8).base64EncodedString()
          guard request.headers["Authorization"] == basic,
            case .bytes(let body) = request.body,
            let members = JSONMessage.members(of: body), members["access_token"] != nil
          else { return WebResponse(status: 401) }
          return WebResponse(status: 204)
        },
      ]
    }
  }

  private static let gitHubApp =
    #"{"access_token":"ghu_#","expires_in":28800,"refresh_token":"R#","refresh_token_expires_in":15897600,"scope":"repo,gist","token_type":"bearer"}"#
  private static let oauthApp =
    #"{"access_token":"gho_#","scope":"repo,gist","token_type":"bearer"}"#

  @Test func `a GitHub App signs in, refreshes and revokes`() async throws {
    let party = try party()
    try party.fixture.register(scope: "repo gist", provider: .gitHub)
    let (first, second) = try await party.signInAndRefresh(after: 28_800)
    #expect(first.scopes == ["repo", "gist"] && first.accessToken == "ghu_1")
    #expect(second.accessToken == "ghu_2" && second.refreshToken == "R2")
    #expect(party.page?.parameters["scope"] == "repo gist")
    #expect(first.refreshTokenExpirationDate != nil)

    try await party.fixture.oauth.revoke()
    let requests = party.requests(to: "api.github.com/applications/client/token")
    #expect(requests.map(\.method) == ["DELETE"])
    #expect(party.fixture.oauth.currentToken == nil)
    guard case .bytes(let body) = requests.first?.body else {
      Issue.record("the revocation has no body of bytes")
      return
    }
    #expect(String(decoding: body, as: UTF8.self) == #"{"access_token":"ghu_2"}"#)
  }

  @Test(arguments: [
    (200, "<html>", SQOAuthError.Code.invalidResponse),
    (401, #"{"message":"Bad credentials"}"#, .invalidClient),
  ])
  func `a revocation response with status 200 or 401 is an error and keeps the token`(
    status: Int, body: String, code: SQOAuthError.Code
  ) async throws {
    let party = try party()
    try party.fixture.register(scope: "repo gist", provider: .gitHub)
    try await party.fixture.oauth.signIn()
    party.fixture.http.answer(ScriptedTransport.json(body, status: status))
    let error = await failure(code) { try await party.fixture.oauth.revoke() }
    #expect(error?.message.contains("sent in the body") == false, "\(error?.message ?? "")")
    #expect(party.fixture.oauth.currentToken != nil)
  }

  /// The user may have removed the app on GitHub's pages.
  @Test func `a token that GitHub does not know counts as revoked`() async throws {
    let party = try party()
    try party.fixture.register(scope: "repo gist", provider: .gitHub)
    try await party.fixture.oauth.signIn()
    party.fixture.http.answer(
      ScriptedTransport.json(#"{"message":"Not Found","status":"404"}"#, status: 404))
    try await party.fixture.oauth.revoke()
    #expect(party.fixture.oauth.currentToken == nil)
  }

  @Test(arguments: [
    (404, "<html>"), (422, #"{"message":"Validation Failed"}"#), (403, ""),
  ])
  func `a refused revocation keeps the token, and the error says how to sign out`(
    status: Int, body: String
  ) async throws {
    let party = try party()
    try party.fixture.register(scope: "repo gist", provider: .gitHub)
    try await party.fixture.oauth.signIn()
    party.fixture.http.answer(ScriptedTransport.json(body, status: status))
    let error = await failure(.invalidResponse) { try await party.fixture.oauth.revoke() }
    #expect(error?.message.contains("call signOut") == true, "\(error?.message ?? "")")
    #expect(party.fixture.oauth.currentToken != nil)
  }

  @Test func `a token of an OAuth app does not expire and is not refreshed`() async throws {
    let party = try party(Self.oauthApp)
    try party.fixture.register(scope: "repo gist", provider: .gitHub)
    let (first, second) = try await party.signInAndRefresh(after: 365 * 86_400)
    #expect(first.expirationDate == nil && second.accessToken == "gho_1" && party.issued == 1)
  }

  @Test func `a refused refresh token ends the session, although the status is 200`() async throws {
    let party = try party()
    try party.fixture.register(scope: "repo", provider: .gitHub)
    try await party.fixture.oauth.signIn()
    party.forgetRefreshToken()
    party.fixture.clock.advance(by: 28_800)
    let error = await failure(.invalidGrant) { try await party.fixture.oauth.token() }
    #expect(error?.response?.error.rawValue == "bad_refresh_token")
    #expect(error?.requiresSignIn == true)
    #expect(party.fixture.oauth.currentToken == nil)
    #expect(try await !party.fixture.oauth.restore())
  }

  @Test func `bad_refresh_token does not end the session unless the provider lists that code`()
    async throws
  {
    let party = try party()
    var provider = Provider.gitHub
    provider.endedSessionCodes = []
    try party.fixture.register(scope: "repo", provider: provider)
    try await party.fixture.oauth.signIn()
    party.forgetRefreshToken()
    party.fixture.clock.advance(by: 28_800)
    await failure(SQOAuthError.Code(rawValue: "bad_refresh_token")) {
      try await party.fixture.oauth.token()
    }
    #expect(party.fixture.oauth.currentToken != nil)
  }

  @Test func `a refused authorization code is an error, although the status is 200`() async throws {
    let party = try party()
    party.fixture.http.answer(
      ScriptedTransport.json(#"{"error":"bad_verification_code","error_description":"Expired."}"#))
    try party.fixture.register(scope: "repo", provider: .gitHub)
    let error = await failure(SQOAuthError.Code(rawValue: "bad_verification_code")) {
      try await party.fixture.oauth.signIn()
    }
    #expect(error?.status == 200 && error?.response?.errorDescription == "Expired.")
  }

  @Test func `a client without a secret sends no revocation`() async throws {
    let party = try party(Self.oauthApp)
    try party.fixture.register(secret: nil, scope: "repo", provider: .gitHub)
    party.fixture.http.answer(ScriptedTransport.token(members: #""scope":"repo""#))
    try await party.fixture.oauth.signIn()
    let count = party.fixture.http.requests.count
    await failure(.revocationUnsupported) { try await party.fixture.oauth.revoke() }
    #expect(party.fixture.http.requests.count == count)
    #expect(party.fixture.oauth.currentToken != nil)
  }
}
