import Foundation
import OAuthSandbox
import SQBasics
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// Tokens of another server for a user who signs in at an identity provider only (ID-JAG).
@Suite(.timeLimit(.minutes(2))) struct IdentityGrantTests {
  private typealias World = IdentityGrantWorld

  @Test func `a user of an identity provider gets a token of a second server`() async throws {
    let world = try await World()
    let account = try world.account()
    let token = try await account.requestAccessTokenByAssertion(scope: "demo")
    #expect(token.scopes == ["demo"])
    let exchange = try #require(world.exchanges.first)
    let idToken = try await world.user.idToken()
    let sent = Dictionary(uniqueKeysWithValues: exchange.form.map { ($0.name, $0.value) })
    #expect(
      sent == [
        "grant_type": TokenExchange.grantType, "scope": "demo",
        "subject_token": idToken.compactForm, "subject_token_type": TokenType.idToken.rawValue,
        "requested_token_type": "urn:ietf:params:oauth:token-type:id-jag",
        "audience": world.chat.issuer.absoluteString, "resource": World.resource,
      ])
    let grant = try #require(world.grants.first)
    #expect(grant.form("grant_type") == JWTAssertion.grantType && world.grants.count == 1)
    let claims = try CompactJWS(try #require(grant.form("assertion"))).claims()
    #expect(claims["client_id"] == "wiki-at-chat" && claims["resource"]?.string == World.resource)
    #expect(
      world.chat.latestRefreshToken(for: SandboxUser.alice.name, client: "wiki-at-chat") != nil,
      "the token is the user's")
  }

  @Test func `each renewal uses a new ID-JAG, even after a restart, and no refresh token is kept`()
    async throws
  {
    let world = try await World()
    let token = try await world.account().requestAccessTokenByAssertion(scope: "demo")
    #expect(token.refreshToken == nil && world.chat.latestRefreshToken != nil)
    for count in 2...3 {
      // The access token ends before the user's ID token.
      world.clock.advance(by: 3600)
      _ = try await world.account().token()
      #expect(world.exchanges.count == count && world.grants.count == count)
    }
    #expect(Set(world.grants.compactMap { $0.form("assertion") }).count == 3)
    #expect(world.grants.allSatisfy { $0.form("grant_type") == JWTAssertion.grantType })
    let record = try #require(await world.store.load("default"))
    let text = String(decoding: try record.json(), as: UTF8.self)
    #expect(!text.contains("eyJ") && text.contains("jwt-bearer"))
  }

  @Test func `an expired ID token is refreshed before it is exchanged`() async throws {
    let world = try await World()
    let account = try world.account()
    try await account.requestAccessTokenByAssertion(scope: "demo")
    world.clock.advance(by: 86_400)
    _ = try await account.token()
    let subjects = world.exchanges.compactMap { $0.form("subject_token") }
    #expect(subjects.count == 2 && Set(subjects).count == 2)
    #expect(subjects.last == (try await world.user.idToken()).compactForm)
  }

  @Test func `without a valid ID token nothing is exchanged, and the error says to sign in again`()
    async throws
  {
    let world = try await World { $0.openID.issuesIDTokenOnRefresh = false }
    world.clock.advance(by: 86_400)
    let error = await failure(.clientKeyFailed) {
      try await world.account().requestAccessTokenByAssertion(scope: "demo")
    }
    #expect((error?.cause as? SQOAuthError)?.code == .idTokenExpired)
    #expect(error?.message.contains("sign in there again") == true)
    #expect(world.exchanges.isEmpty && world.grants.isEmpty)
    // The refresh token proves who the user is for as long as the session lasts.
    try await world.account(.refreshToken).requestAccessTokenByAssertion(scope: "demo")
    #expect(
      world.exchanges.last?.form("subject_token_type") == TokenType.refreshToken.rawValue)
    #expect(world.exchanges.last?.form("subject_token") == world.user.currentToken?.refreshToken)
  }

  @Test func `an access token is rejected as the subject of the exchange, and nothing is sent`()
    async throws
  {
    let world = try await World()
    let error = await failure(.clientKeyFailed) {
      try await world.account(.accessToken).requestAccessTokenByAssertion()
    }
    #expect((error?.cause as? SQOAuthError)?.code == .invalidConfiguration)
    #expect(world.exchanges.isEmpty && world.grants.isEmpty)
  }

  @Test(arguments: [
    (
      SandboxMisbehaviour.member(
        "issued_token_type", "urn:ietf:params:oauth:token-type:access_token"),
      SQOAuthError.Code.unexpectedTokenType
    ),
    (.member("issued_token_type", nil), .invalidResponse),
    (.jwt { $0.claims["aud"] = "https://chat.example/mcp" }, .unexpectedAudience),
    (.error("access_denied"), .accessDenied), (.error("invalid_grant"), .invalidGrant),
  ])
  func `if the identity provider refuses or misbehaves, nothing is sent to the second server`(
    misbehaviour: SandboxMisbehaviour, code: SQOAuthError.Code
  ) async throws {
    let world = try await World()
    let account = try world.account()
    let token = try await account.requestAccessTokenByAssertion(scope: "demo")
    world.clock.advance(by: 3600)
    world.provider.misbehave(at: .token, misbehaviour)
    let error = await failure(.clientKeyFailed) { try await account.token() }
    #expect((error?.cause as? SQOAuthError)?.code == code)
    #expect(world.grants.count == 1 && account.currentToken == token, "the account stays")
    #expect(world.user.currentToken != nil)
    let idToken = try await world.user.idToken().compactForm
    if let error { #expect(!everyText(of: error).contains(idToken)) }
    world.clock.advance(by: 61)
    #expect(try await account.token() != token, "the next request asks again")
  }

  @Test(arguments: ["Bearer", "bearer", "n_a"])
  func `the token_type in the response with an ID-JAG is ignored`(type: SandboxJSON) async throws {
    let world = try await World()
    world.provider.misbehave(at: .token, .member("token_type", type))
    try await world.account().requestAccessTokenByAssertion(scope: "demo")
    #expect(world.grants.count == 1)
  }

  @Test(arguments: [TokenType.idToken, .refreshToken])
  func `after the registration of another identity provider, that one gets none of the tokens`(
    subject: TokenType
  ) async throws {
    let world = try await World()
    let other = try await World()
    world.user.register(try #require(other.user.configuration))
    let error = await failure(.clientKeyFailed) {
      try await world.account(subject).requestAccessTokenByAssertion(scope: "demo")
    }
    #expect((error?.cause as? SQOAuthError)?.code == .invalidConfiguration)
    #expect(other.provider.requests.isEmpty && world.exchanges.isEmpty && world.grants.isEmpty)
  }

  @Test func `a refusal by the second server is not retried`() async throws {
    let world = try await World()
    world.chat.misbehave(at: .token, .error("invalid_grant"))
    await failure(.invalidGrant) {
      try await world.account().requestAccessTokenByAssertion(scope: "demo")
    }
    #expect(world.grants.count == 1)
  }

  @Test func `the second server refuses an ID-JAG that was issued to another client`() async throws
  {
    let world = try await World()
    let user = world.user
    var thief = try ClientConfiguration(
      clientID: SandboxClient.service.id, clientSecret: SandboxClient.service.secret,
      provider: .issuer(world.chat.issuer.absoluteString))
    thief.grantAssertionSource = .identityProvider(user)
    var environment = ClientEnvironment()
    environment.clock = world.clock
    let account = AuthorizationModule(configuration: thief, environment: environment)
    let error = await failure(.invalidGrant) {
      try await account.requestAccessTokenByAssertion(scope: "demo")
    }
    #expect(error?.message.contains("client_id is not the authenticated client") == true)
  }

  @Test func `the identity provider exchanges only a valid ID token, and only for a second server`()
    async throws
  {
    let world = try await World()
    let idToken = try await world.user.idToken().compactForm
    func exchange(_ audience: String) async throws {
      _ = try await world.user.exchangeToken(
        TokenExchange(subject: .idToken(idToken), audiences: [audience], requestedType: .idJAG))
    }
    await failure(.invalidRequest) { try await exchange(world.provider.issuer.absoluteString) }
    try await exchange(world.chat.issuer.absoluteString)
    world.clock.advance(by: 86_400)
    await failure(.invalidGrant) { try await exchange(world.chat.issuer.absoluteString) }
  }
}
