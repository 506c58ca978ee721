import Foundation
import OAuthSandbox
import SQBasics
import SequencingOAuth
import SequencingOAuthBackend
import Testing

@testable import TestSupport

/// Exchanging a token for a token of another service, at a sandbox (RFC 8693).
@Suite(.timeLimit(.minutes(2))) struct TokenExchangeGrantTests {
  private static let audience = ResourceServerFixture.audience

  /// Creates a service that received a user's token and exchanges it.
  private func service(_ server: ResourceServerFixture) throws -> AuthorizationModule {
    AuthorizationModule(
      configuration: try ClientConfiguration(
        clientID: SandboxClient.service.id, clientSecret: SandboxClient.service.secret,
        provider: server.provider), environment: server.environment)
  }

  private func last(_ server: ResourceServerFixture) throws -> SandboxRequest {
    try #require(server.sandbox.requests(to: .token).last)
  }

  @Test func `a service gets a token for the next service in the user's name`() async throws {
    let server = try await ResourceServerFixture()
    let account = try service(server)
    let exchanged = try await account.exchangeToken(
      TokenExchange(
        subject: .accessToken(server.token(audiences: [])), audiences: [Self.audience],
        scope: "demo"))
    #expect(exchanged.type == .accessToken && exchanged.expirationDate != nil)
    #expect(exchanged.authorizationFields == ["Authorization": "Bearer \(exchanged.text)"])
    let claims = try await server.validator().validate(exchanged.text)
    #expect(claims.subject == SandboxUser.alice.subject && claims.scopes == ["demo"])
    #expect(claims.clientID == SandboxClient.service.id && claims.claims["act"] == nil)
    #expect(account.currentToken == nil, "the account keeps no token")
    let request = try last(server)
    #expect(request.form("requested_token_type")?.hasSuffix(":access_token") == true)
    #expect(request.form("subject_token_type")?.hasSuffix(":access_token") == true)
    #expect(request.form("actor_token") == nil)
    #expect(!"\(exchanged)".contains(exchanged.text))
  }

  @Test func `a delegated token names the actor`() async throws {
    let server = try await ResourceServerFixture()
    let account = try service(server)
    let own = try await account.requestAccessTokenAsClient(scope: "demo")
    let exchanged = try await account.exchangeToken(
      TokenExchange(
        subject: .accessToken(server.token()), actor: .accessToken(own.accessToken),
        audiences: [Self.audience]))
    let claims = try await server.validator().validate(exchanged.text)
    #expect(claims.subject == SandboxUser.alice.subject)
    #expect(claims.claims["act"]?["sub"]?.string == SandboxClient.service.id)
    #expect(account.currentToken?.accessToken == own.accessToken)
  }

  @Test func `without a subject the account's own token is refreshed and exchanged`()
    async throws
  {
    let server = try await ResourceServerFixture()
    let account = try service(server)
    _ = try await account.requestAccessTokenAsClient(scope: "demo")
    server.clock.advance(by: 7200)
    let exchanged = try await account.exchangeToken(
      TokenExchange(audiences: ["one"], resources: ["https://two.example/api"]))
    let request = try last(server)
    #expect(request.form("subject_token") == account.currentToken?.accessToken)
    let audiences = request.form.filter { ["audience", "resource"].contains($0.name) }
    #expect(audiences.map(\.value) == ["one", "https://two.example/api"])
    let claims = try await server.introspector(audience: "one").claims(of: exchanged.text)
    #expect(claims?.audience.count == 2)
  }

  @Test func `the audience of an exchange overrides the configured audience`() async throws {
    let server = try await ResourceServerFixture()
    let account = AuthorizationModule(
      configuration: try ClientConfiguration(
        clientID: SandboxClient.service.id, clientSecret: SandboxClient.service.secret,
        provider: server.provider, tokenParameters: ["audience": "default", "x": "y"]),
      environment: server.environment)
    let subject = TokenExchange.Token.accessToken(server.token())
    let exchange = TokenExchange(subject: subject, audiences: [Self.audience])
    let exchanged = try await account.exchangeToken(exchange)
    #expect(try await server.validator().validate(exchanged.text).audience == [Self.audience])
    #expect(try last(server).form("x") == "y")
    _ = try await account.exchangeToken(TokenExchange(subject: subject))
    #expect(try last(server).form("audience") == "default")
  }

  @Test
  func `an exchanged JWT has no Authorization field and is rejected if it has another audience`()
    async throws
  {
    let server = try await ResourceServerFixture(nil)
    let account = try service(server)
    let exchange = TokenExchange(
      subject: .accessToken(server.token()), audiences: [Self.audience], requestedType: .jwt)
    let exchanged = try await account.exchangeToken(exchange)
    #expect(exchanged.type == .jwt && exchanged.authorizationFields == nil)
    #expect(exchanged.token.tokenType == "N_A" && exchanged.text.split(separator: ".").count == 3)
    for audience: SandboxJSON in [
      "https://other.example", .array([.string(Self.audience), "https://other.example"]),
    ] {
      server.sandbox.misbehave(at: .token, .jwt { $0.claims["aud"] = audience })
      await failure(.unexpectedAudience) { try await account.exchangeToken(exchange) }
    }
  }

  @Test func `the next service rejects a token for another audience`() async throws {
    let server = try await ResourceServerFixture()
    let subject = server.token()
    server.sandbox.misbehave(at: .token, .jwt { $0.claims["aud"] = "https://other.example" })
    let exchanged = try await service(server).exchangeToken(
      TokenExchange(subject: .accessToken(subject), audiences: [Self.audience]))
    await failure(.accessTokenInvalid) { try await server.validator().validate(exchanged.text) }
  }

  @Test(arguments: [
    (SandboxMisbehaviour.member("issued_token_type", nil), SQOAuthError.Code.invalidResponse),
    (.member("issued_token_type", 1), .invalidResponse),
    (
      .member("issued_token_type", "urn:ietf:params:oauth:token-type:refresh_token"),
      .unexpectedTokenType
    ),
    (.member("token_type", "N_A"), .invalidResponse),
    (.member("token_type", "mac"), .invalidResponse),
    (.member("access_token", nil), .invalidResponse), (.html, .invalidResponse),
    (.error("invalid_target"), .invalidTarget), (.status(502), .serverError),
  ])
  func `an error or an answer without a valid token of the requested type makes the exchange fail`(
    misbehaviour: SandboxMisbehaviour, code: SQOAuthError.Code
  ) async throws {
    let server = try await ResourceServerFixture()
    let account = try service(server)
    let subject = server.token()
    server.sandbox.misbehave(at: .token, misbehaviour)
    let error = await failure(code) {
      try await account.exchangeToken(
        TokenExchange(subject: .accessToken(subject), audiences: [Self.audience]))
    }
    if let error { #expect(!everyText(of: error).contains(subject)) }
    #expect(account.currentToken == nil)
  }

  @Test func `the server's errors keep their codes`() async throws {
    let server = try await ResourceServerFixture { $0.audiences = [Self.audience] }
    let account = try service(server)
    let subject = TokenExchange.Token.accessToken(server.token(scopes: ["demo"]))
    await failure(.invalidTarget) {
      try await account.exchangeToken(TokenExchange(subject: subject, audiences: ["other"]))
    }
    await failure(.invalidScope) {
      try await account.exchangeToken(
        TokenExchange(subject: subject, audiences: [Self.audience], scope: "files"))
    }
    let error = await failure(.invalidRequest) {
      try await account.exchangeToken(TokenExchange(subject: .accessToken("made-up")))
    }
    if let error { #expect(!everyText(of: error).contains("made-up")) }
  }

  @Test func `an invalid exchange is not sent`() async throws {
    let server = try await ResourceServerFixture()
    let account = try service(server)
    let exchanges = [
      TokenExchange(subject: .accessToken("")),
      TokenExchange(subject: .init("x", type: TokenType(rawValue: ""))),
      TokenExchange(subject: .accessToken("x"), actor: .accessToken("")),
      TokenExchange(subject: .accessToken("x"), resources: ["/api"]),
      TokenExchange(subject: .accessToken("x"), resources: ["https://api.example/#part"]),
    ]
    for exchange in exchanges {
      await failure(.invalidConfiguration) { try await account.exchangeToken(exchange) }
    }
    #expect(server.sandbox.requests(to: .token).isEmpty)
  }
}
