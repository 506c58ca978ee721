import Foundation
import OAuthSandbox
import SQBasics
import SequencingOAuth
import SequencingOAuthBackend
import Testing

@testable import TestSupport

/// A resource server that asks the authorization server about tokens (RFC 7662 and RFC 9701).
@Suite(.timeLimit(.minutes(2))) struct TokenIntrospectorTests {
  @Test(arguments: [nil, SandboxSigningAlgorithm.es256])
  func `introspection returns the claims of an active token`(algorithm: SandboxSigningAlgorithm?)
    async throws
  {
    let server = try await ResourceServerFixture(algorithm)
    let introspector = try server.introspector()
    let claims = try #require(try await introspector.claims(of: server.token()))
    #expect(claims.subject == SandboxUser.alice.subject && claims.username == "alice")
    #expect(claims.clientID == SandboxClient.app.id && claims.scopes == ["profile", "demo"])
    #expect(claims.audience == [ResourceServerFixture.audience])
    #expect(claims.expirationDate != nil && claims.issueDate != nil)
    let request = try #require(server.sandbox.requests(to: .introspection).last)
    #expect(request.form("token_type_hint") == "access_token" && request.query.isEmpty)
    #expect(request.header("authorization")?.hasPrefix("Basic ") == true)
  }

  @Test func `the server's date corrects the clock by which a service signs its requests`()
    async throws
  {
    let client = try await KeyedClientFixture()
    let introspector = TokenIntrospector(
      try client.configuration(), audience: nil, cacheTime: .zero, environment: client.environment)
    client.sandbox.advance(by: .seconds(600))
    let token = client.sandbox.issueTokens(scopes: ["demo"]).accessToken
    for count in [2, 1] {
      client.sandbox.forgetRequests()
      #expect(try await introspector.claims(of: token) != nil)
      #expect(client.signed().count == count)
    }
  }

  @Test func `an unknown, empty or expired token is not active`() async throws {
    let server = try await ResourceServerFixture(nil)
    let introspector = try server.introspector(cacheTime: .zero)
    #expect(try await introspector.claims(of: "made-up") == nil)
    #expect(try await introspector.claims(of: "") == nil)
    let request = ProtectedRequest(
      method: "GET", url: server.sandbox.issuer, authorization: ["Bearer made-up"], proofs: [])
    #expect(try await introspector.claims(of: request) == nil)
    await failure(.accessTokenInvalid) { try await introspector.validate(request) }
    let token = server.token()
    #expect(try await introspector.claims(of: token) != nil)
    server.clock.advance(by: 3601)
    #expect(try await introspector.claims(of: token) == nil)
    #expect(server.questions == 5)
  }

  @Test func `a token without this service's audience is refused, even if the answer is cached`()
    async throws
  {
    let server = try await ResourceServerFixture(nil)
    let introspector = try server.introspector()
    let foreign = server.token(audiences: ["https://other.example"])
    for _ in 0..<2 {
      await failure(.accessTokenInvalid) { try await introspector.claims(of: foreign) }
    }
    #expect(server.questions == 1)
    server.sandbox.misbehave(at: .introspection, .member("aud", nil))
    let error = await failure(.accessTokenInvalid) {
      try await introspector.claims(of: server.token())
    }
    #expect(error?.message.contains("give the introspector no audience") == true)
    let both = server.token(audiences: ["https://other.example", ResourceServerFixture.audience])
    #expect(try await introspector.claims(of: both) != nil)
    #expect(try await server.introspector(audience: nil).claims(of: foreign) != nil)
  }

  @Test func `a refresh token or an ID token is rejected as an access token`() async throws {
    let server = try await ResourceServerFixture(nil)
    let tokens = server.sandbox.issueTokens()
    let introspector = try server.introspector()
    let error = await failure(.unexpectedTokenType) {
      try await introspector.claims(of: tokens.refreshToken)
    }
    #expect(error.map { !everyText(of: $0).contains(tokens.refreshToken) } == true)
    for type: SandboxJSON in ["ID", "Refresh", "Offline"] {
      server.sandbox.misbehave(at: .introspection, .member("typ", type))
      await failure(.unexpectedTokenType) {
        try await introspector.claims(of: tokens.accessToken)
      }
    }
    for use: SandboxJSON in ["refresh_token", "id", "", 1] {
      // Ory Hydra sends `"token_type": "Bearer"` for refresh tokens too, and tells them apart only
      // by `token_use`.
      server.sandbox.misbehave(at: .introspection, .member("token_use", use))
      await failure(.unexpectedTokenType) {
        try await introspector.claims(of: tokens.accessToken)
      }
    }
    server.sandbox.misbehave(at: .introspection, .member("token_type", 1))
    await failure(.unexpectedTokenType) { try await introspector.claims(of: tokens.accessToken) }
  }

  @Test(
    arguments: [
      ("token_type", "access_token"), ("token_type", nil), ("token_type", .null),
      ("token_use", "access_token"), ("token_use", "access"), ("token_use", .null),
      ("typ", "Bearer"),
    ] as [(String, SandboxJSON?)])
  func `an answer with any common access token type, or with none, is accepted`(
    name: String, value: SandboxJSON?
  ) async throws {
    let server = try await ResourceServerFixture(nil)
    server.sandbox.misbehave(at: .introspection, .member(name, value))
    #expect(try await server.introspector().claims(of: server.token()) != nil)
  }

  @Test func `a resource server can require the introspection answer to contain a token type`()
    async throws
  {
    let server = try await ResourceServerFixture(nil)
    let introspector = try server.introspector(requiresTokenType: true)
    let token = server.token()
    for missing: SandboxJSON? in [nil, .null] {
      server.sandbox.misbehave(at: .introspection, .member("token_type", missing))
      await failure(.unexpectedTokenType) { try await introspector.claims(of: token) }
    }
    #expect(try await introspector.claims(of: token) != nil)
    #expect(try await introspector.claims(of: "made-up") == nil)
  }

  // MARK: Failures

  @Test(arguments: [
    (SandboxMisbehaviour.member("active", nil), SQOAuthError.Code.invalidResponse),
    (.member("active", "true"), .invalidResponse), (.member("active", 1), .invalidResponse),
    (.member("exp", "soon"), .invalidResponse), (.member("aud", [1]), .invalidResponse),
    (.member("iss", "https://other.example"), .invalidResponse), (.html, .invalidResponse),
    (.truncatedJSON, .invalidResponse), (.status(503), .temporarilyUnavailable),
    (.redirect(302, to: "http://127.0.0.1:1/"), .redirectRefused),
    (.error("invalid_client", status: 401), .invalidClient), (.endless, .responseTooLarge),
  ])
  func `an invalid answer or a failed request is an error and is not cached`(
    misbehaviour: SandboxMisbehaviour, code: SQOAuthError.Code
  ) async throws {
    let server = try await ResourceServerFixture(nil)
    let introspector = try server.introspector()
    let token = server.token()
    server.sandbox.misbehave(at: .introspection, misbehaviour)
    let error = await failure(code) { try await introspector.claims(of: token) }
    if let error { #expect(!everyText(of: error).contains(token)) }
    server.clock.advance(by: 1)
    #expect(try await introspector.claims(of: token) != nil)
  }

  @Test(arguments: [400, 401, 500])
  func `the error shows the endpoint's message without the token`(status: Int) async throws {
    let server = try await ResourceServerFixture(nil)
    let token = server.token()
    let body = #"{"errors":[{"detail":"no \#(token), sorry"}]}"#
    server.sandbox.misbehave(at: .introspection, .status(status, body: body))
    let error = await failure { try await server.introspector().claims(of: token) }
    #expect(error?.message.contains("and said: no [removed], sorry") == true)
    #expect(error.map { !everyText(of: $0).contains(token) } == true)
    #expect(error?.message.contains("client_secret_post") == (status == 401))
  }

  @Test(arguments: [["read", "write"], "read write"] as [SandboxJSON])
  func `the scopes may be a list or a string`(scope: SandboxJSON) async throws {
    let server = try await ResourceServerFixture(nil)
    server.sandbox.misbehave(at: .introspection, .member("scope", scope))
    let claims = try await server.introspector().claims(of: server.token())
    #expect(claims?.scopes == ["read", "write"])
  }

  @Test func `a wrong secret and a missing endpoint have different errors`()
    async throws
  {
    let server = try await ResourceServerFixture(nil)
    let token = server.token()
    let wrong = try server.introspector(secret: "wrong")
    await failure(.invalidClient) { try await wrong.claims(of: token) }
    server.sandbox.misbehave(at: .metadata, .member("introspection_endpoint", nil))
    var environment = ClientEnvironment()
    environment.clock = server.clock
    let other = TokenIntrospector(
      try ClientConfiguration(clientID: "x", clientSecret: "y", provider: server.provider),
      audience: nil, environment: environment)
    await failure(.introspectionUnsupported) { try await other.claims(of: token) }
  }
}
