import Foundation
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// A client of Slack, at servers that answer as Slack's documentation says.
@Suite("At Slack", .timeLimit(.minutes(1))) struct SlackTests {
  private static let user =
    #"{"ok":true,"app_id":"A1","authed_user":{"id":"U1","scope":"search:read,chat:write","access_token":"xoxp-#","token_type":"user","expires_in":43200,"refresh_token":"R#"},"team":{"id":"T1"}}"#
  private static let refreshed =
    #"{"ok":true,"access_token":"xoxp-#","token_type":"user","scope":"search:read,chat:write","expires_in":43200,"refresh_token":"R#"}"#
  private static let bot =
    #"{"ok":true,"access_token":"xoxb-#","token_type":"bot","scope":"commands,chat:write","bot_user_id":"B1","authed_user":{"id":"U1","scope":"search:read","access_token":"xoxp-1","token_type":"user"}}"#

  private func party(_ token: String = user, then later: String = refreshed) throws
    -> PlayedProvider
  {
    try PlayedProvider { party in
      let tokens = party.tokens(
        refused: #"{"ok":false,"error":"invalid_refresh_token"}"#, status: 200
      ) { ($0 == 1 ? token : later).replacing("#", with: "\($0)") }
      return [
        "POST slack.com/api/oauth.v2.user.access": tokens,
        "POST slack.com/api/oauth.v2.access": tokens,
        "POST slack.com/api/auth.revoke": { request in
          let isKnown = request.headers["Authorization"] == "Bearer xoxp-\(party.issued)"
          return try await ScriptedTransport.json(
            isKnown ? #"{"ok":true,"revoked":true}"# : #"{"ok":false,"error":"not_allowed"}"#)(
              request)
        },
      ]
    }
  }

  @Test func `a user's token is read from authed_user, refreshed and revoked`() async throws {
    let party = try party()
    try party.fixture.register(secret: nil, scope: "search:read chat:write", provider: .slack)
    let (first, second) = try await party.signInAndRefresh(after: 43_200)
    #expect(party.page?.parameters["scope"] == "search:read,chat:write")
    #expect(party.page?.parameters["code_challenge_method"] == "S256")
    #expect(first.accessToken == "xoxp-1" && first.tokenType == "Bearer")
    #expect(first.scopes == ["search:read", "chat:write"])
    #expect(first.additionalFields["authed_user"]?["id"] == "U1")
    #expect(second.accessToken == "xoxp-2" && second.refreshToken == "R2")

    try await party.fixture.oauth.revoke()
    #expect(party.requests(to: "slack.com/api/auth.revoke").count == 1)
    #expect(party.fixture.oauth.currentToken == nil)
  }

  @Test func `a bot's sign-in uses the bot's token, and the user's token is an additional field`()
    async throws
  {
    let party = try party(Self.bot)
    try party.fixture.register(scope: "commands chat:write", provider: .slackBot)
    let token = try await party.fixture.oauth.signIn()
    #expect(token.accessToken == "xoxb-1" && token.scopes == ["commands", "chat:write"])
    #expect(token.additionalFields["authed_user"]?["access_token"] == "xoxp-1")
    let request = try #require(party.requests(to: "slack.com/api/oauth.v2.access").first)
    #expect(request.headers["Authorization"]?.hasPrefix("Basic ") == true)
    #expect(request.url.query() == nil, "the secret is in no query")
  }

  @Test func `a user's sign-in never uses the bot's token`() async throws {
    let bot = #""access_token":"xoxb-1","token_type":"bot","refresh_token":"B","expires_in":9"#
    let user = #""access_token":"xoxp-1","token_type":"user","scope":"search:read""#
    for own in ["{}", #"{"access_token":null}"#, "{\(user.replacing("user", with: "bot"))}"] {
      let party = try party(#"{"ok":true,\#(bot),"authed_user":\#(own)}"#)
      try party.fixture.register(secret: nil, scope: "search:read", provider: .slack)
      await failure(.invalidResponse) { try await party.fixture.oauth.signIn() }
    }
    let party = try party(#"{"ok":true,\#(bot),"authed_user":{\#(user)}}"#)
    try party.fixture.register(secret: nil, scope: "search:read", provider: .slack)
    let token = try await party.fixture.oauth.signIn()
    #expect(token.accessToken == "xoxp-1" && token.refreshToken == nil)
    #expect(token.expirationDate == nil)
  }

  @Test func `a bot's sign-in rejects a user's token`() async throws {
    for body in [Self.user, Self.refreshed] {
      let party = try party(body)
      try party.fixture.register(scope: "commands", provider: .slackBot)
      await failure(.invalidResponse) { try await party.fixture.oauth.signIn() }
    }
  }

  @Test(arguments: [
    #"{"access_token":"xoxp-1","access_token":"xoxp-2","token_type":"user"}"#,
    #"{"access_token":"xoxp-1","token_type":"user"},"authed_user":{"access_token":"xoxp-2"}"#,
  ])
  func `a response with two access tokens or two authed_user members is refused`(user: String)
    async throws
  {
    let party = try party(#"{"ok":true,"authed_user":\#(user)}"#)
    try party.fixture.register(secret: nil, provider: .slack)
    let error = await failure(.invalidResponse) { try await party.fixture.oauth.signIn() }
    #expect(error?.message.contains("twice") == true, "\(error?.message ?? "")")
  }

  @Test(arguments: ["invalid_code", "bad_redirect_uri"])
  func `a response with ok false is an error, although the status is 200`(code: String) async throws
  {
    let party = try party()
    party.fixture.http.answer(ScriptedTransport.json(#"{"ok":false,"error":"\#(code)"}"#))
    try party.fixture.register(provider: .slack)
    let error = await failure(SQOAuthError.Code(rawValue: code)) {
      try await party.fixture.oauth.signIn()
    }
    #expect(error?.message.contains("client_secret_post") == false, "\(error?.message ?? "")")
  }

  @Test func `a refused refresh token ends the session`() async throws {
    let party = try party()
    try party.fixture.register(secret: nil, provider: .slack)
    try await party.fixture.oauth.signIn()
    party.forgetRefreshToken()
    party.fixture.clock.advance(by: 43_200)
    await failure(.invalidGrant) { try await party.fixture.oauth.token() }
    #expect(party.fixture.oauth.currentToken == nil)
  }

  @Test(arguments: [
    (#"{"ok":false,"error":"not_allowed"}"#, "not_allowed"),
    (#"{"ok":false}"#, "invalid_response"), ("{}", "invalid_response"), ("", "invalid_response"),
    (#"{"ok":"true"}"#, "invalid_response"), ("<html>", "invalid_response"),
    (#"{"ok":true,"revoked":false}"#, "invalid_response"),
    (#"{"ok":true,"revoked":null}"#, "invalid_response"),
    // Slack also sends `invalid_auth` to a host that may not send requests, so the token may still
    // be valid.
    (#"{"ok":false,"error":"invalid_auth"}"#, "invalid_auth"),
  ])
  func `a revocation that Slack does not confirm is an error, although the status is 200`(
    body: String, code: String
  ) async throws {
    let party = try party()
    try party.fixture.register(secret: nil, provider: .slack)
    try await party.fixture.oauth.signIn()
    party.fixture.http.answer(ScriptedTransport.json(body))
    await failure(SQOAuthError.Code(rawValue: code)) { try await party.fixture.oauth.revoke() }
    #expect(party.fixture.oauth.currentToken != nil)
  }

  @Test(arguments: ["token_revoked", "token_expired", "account_inactive"])
  func `revoke succeeds if Slack answers that the token has already ended`(code: String)
    async throws
  {
    let party = try party()
    try party.fixture.register(secret: nil, provider: .slack)
    try await party.fixture.oauth.signIn()
    party.fixture.http.answer(ScriptedTransport.json(#"{"ok":false,"error":"\#(code)"}"#))
    try await party.fixture.oauth.revoke()
    #expect(party.fixture.oauth.currentToken == nil)
  }
}
