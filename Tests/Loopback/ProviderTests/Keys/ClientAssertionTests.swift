import Foundation
import OAuthSandbox
import SQBasics
import Testing

@testable import LoopbackSupport
@testable import SQCrypto
@testable import SequencingOAuth
@testable import SequencingOAuthBackend
@testable import TestSupport

/// Clients that authenticate with a signed assertion (RFC 7523, section 2.2).
@Suite(.timeLimit(.minutes(2))) struct ClientAssertionTests {
  @Test(arguments: MadeKeys.algorithms)
  func `a service gets a token in its own name`(algorithm: JWSAlgorithm) async throws {
    let client = try await KeyedClientFixture(algorithm)
    let token = try await client.account().requestAccessTokenAsClient(scope: "demo")
    #expect(token.scopes == ["demo"])
    let request = try client.last()
    #expect(request.form("client_id") == KeyedClientFixture.id)
    #expect(request.form("client_secret") == nil && request.header("authorization") == nil)
    let claims = try client.claims(in: request)
    #expect(claims["iss"]?.string == KeyedClientFixture.id && claims["sub"] == claims["iss"])
    #expect(claims["aud"]?.string == client.sandbox.issuer.absoluteString)
    let now = Int64(client.clock.now.timeIntervalSince1970.rounded(.down))
    // The assertion lasts a minute, plus one more for clock differences.
    #expect(claims["iat"] == .integer(now) && claims["exp"] == .integer(now + 120))
    #expect(claims["jti"]?.string?.utf8.count == 43)
  }

  @Test func `each authenticated request of a signed-in client has a new assertion`() async throws {
    let client = try await KeyedClientFixture()
    let account = try client.account(
      client.configuration(scope: "openid demo", redirectURI: "http://127.0.0.1/callback"))
    let token = try await account.signIn()
    #expect(token.idToken?.subject == SandboxUser.alice.subject)
    try await account.refresh()
    _ = try await account.exchangeToken(TokenExchange(audiences: ["x"]))
    let introspector = TokenIntrospector(
      try client.configuration(), audience: nil, environment: client.environment)
    #expect(try await introspector.claims(of: try await account.token().accessToken) != nil)
    try await account.revoke()
    let requests = client.signed()
    #expect(
      requests.compactMap(\.endpoint) == [
        .token, .token, .token, .introspection, .revocation, .revocation,
      ])
    let identifiers = try requests.map { try client.claims(in: $0)["jti"]?.string }
    #expect(Set(identifiers).count == requests.count)
  }

  @Test func `a device authenticates when it asks for a code and for the token`() async throws {
    let client = try await KeyedClientFixture()
    let account = try client.account()
    let token = try await account.signInWithDeviceCode(enteredBy: SandboxVisitor(), client.clock)
    #expect(token.scopes == ["demo"])
    #expect(client.signed().compactMap(\.endpoint) == [.deviceAuthorization, .token])
  }

  @Test(arguments: [
    (AssertionAudience.issuer, "ISSUER"), (.tokenEndpoint, "ISSUER/token"),
    (.requestedEndpoint, "ISSUER/token"),
    (.other("https://as.example"), "https://as.example"),
  ])
  func `the assertion has the audience from the configuration of the provider`(
    audience: AssertionAudience, expected: String
  ) async throws {
    let client = try await KeyedClientFixture()
    var provider = client.provider
    provider.assertionAudience = audience
    let account = try client.account(client.configuration(provider: provider))
    if case .other = audience {
      await failure(.invalidClient) { try await account.requestAccessTokenAsClient() }
    } else {
      try await account.requestAccessTokenAsClient()
    }
    let issuer = client.sandbox.issuer.absoluteString
    #expect(
      try client.claims(in: client.last())["aud"]?.string
        == expected.replacing("ISSUER", with: issuer))
  }

  @Test func `for Google the assertion's audience is the token endpoint`() {
    #expect(Provider.google.assertionAudience == .tokenEndpoint)
    #expect(Provider.issuer("https://accounts.google.com").assertionAudience == .tokenEndpoint)
    #expect(Provider.issuer("https://id.example").assertionAudience == .issuer)
  }

  // MARK: What the server rejects

  @Test func `an assertion with a wrong key or a wrong client ID is rejected`() async throws {
    let client = try await KeyedClientFixture()
    let wrong = try client.account(client.configuration(try ClientKey(generating: .es256)))
    let error = await failure(.invalidClient) { try await wrong.requestAccessTokenAsClient() }
    let sent = try #require(try client.last().form("client_assertion"))
    if let error { #expect(!everyText(of: error).contains(sent)) }
    #expect(error?.message.contains("assertionAudience") == true)
    #expect(error?.message.contains(try #require(wrong.configuration?.clientKey?.keyID)) == true)
    let other = AuthorizationModule(
      configuration: try ClientConfiguration(
        clientID: "sandbox-service", clientKey: client.key, provider: client.provider),
      environment: client.environment)
    await failure(.invalidClient) { try await other.requestAccessTokenAsClient() }
  }

  @Test func `the server's date corrects a clock error of minutes but not one of a day`()
    async throws
  {
    let client = try await KeyedClientFixture()
    client.sandbox.advance(by: .seconds(600))
    for count in [2, 1] {
      client.sandbox.forgetRequests()
      try await client.account().requestAccessTokenAsClient()
      #expect(client.signed().count == count)
    }
    client.sandbox.advance(by: .seconds(90_000))
    client.sandbox.forgetRequests()
    let error = await failure(.invalidClient) {
      try await client.account().requestAccessTokenAsClient()
    }
    #expect(error?.message.contains("correct the clock") == true)
    #expect(client.signed().count == 1)
  }

  @Test func `an assertion is removed from errors and descriptions`() throws {
    let client = ClientCredentials(
      id: "c", secret: nil, authentication: .privateKeyJWT, assertion: "head.claims.signature")
    let request = TokenRequest(
      endpoint: try #require(URL(string: "https://id.example/token")), parameters: [],
      client: client, timeout: .seconds(1))
    #expect(!request.secrets.removed(from: "bad head.claims.signature").contains("claims"))
    #expect(!everyText(of: request).contains("head.claims"))
  }

  // MARK: Configuration

  @Test func `a configuration with private_key_jwt but without a key is rejected`() throws {
    let provider = Provider.issuer("https://id.example")
    failure(.invalidConfiguration) {
      try ClientConfiguration(
        clientID: "c", clientSecret: "s", provider: provider, clientAuthentication: .privateKeyJWT)
    }
  }

  @Test func `a key is preferred to a secret, and the app's explicit choice is preferred to both`()
    throws
  {
    func chosen(
      _ explicit: ClientAuthentication?, hasKey: Bool = true, _ supported: [String]?
    ) throws -> ClientAuthentication {
      try ClientAuthentication.chosen(
        explicit, hasKey: hasKey, hasSecret: true, supported: supported)
    }
    #expect(try chosen(nil, nil) == .privateKeyJWT)
    #expect(try chosen(nil, ["client_secret_basic", "private_key_jwt"]) == .privateKeyJWT)
    #expect(try chosen(.basic, ["private_key_jwt"]) == .basic)
    #expect(try chosen(.publicClient, ["private_key_jwt"]) == .publicClient)
    #expect(try chosen(nil, hasKey: false, nil) == .basic)
    let error = failure(.invalidConfiguration) { try chosen(nil, ["client_secret_basic"]) }
    #expect(error?.message.contains("private_key_jwt") == true)
  }

  @Test func `a server that does not list private_key_jwt gets no token request`() async throws {
    let client = try await KeyedClientFixture()
    client.sandbox.misbehave(
      at: .metadata,
      .member("token_endpoint_auth_methods_supported", ["client_secret_basic", "none"]))
    let account = try client.account()
    await failure(.invalidConfiguration) { try await account.requestAccessTokenAsClient() }
    #expect(client.sandbox.requests(to: .token).isEmpty)
  }

  @Test func `a client uses private_key_jwt even at endpoints whose metadata does not list it`()
    async throws
  {
    let client = try await KeyedClientFixture()
    client.sandbox.misbehave(
      at: .metadata,
      .members([
        ("introspection_endpoint_auth_methods_supported", ["client_secret_basic"]),
        ("revocation_endpoint_auth_methods_supported", ["client_secret_basic"]),
      ]))
    let account = try client.account()
    let token = try await account.requestAccessTokenAsClient().accessToken
    let introspector = TokenIntrospector(
      try client.configuration(), audience: nil, environment: client.environment)
    #expect(try await introspector.claims(of: token) != nil)
    try await account.revoke()
    #expect(
      client.signed().compactMap(\.endpoint) == [.token, .introspection, .revocation])
  }

  // MARK: A key that fails

  @Test func `if the key fails, a refresh keeps the tokens, and a later refresh succeeds`()
    async throws
  {
    let client = try await KeyedClientFixture()
    let isBroken = Locked(false)
    let own = client.key
    guard case .here(let privateKey) = own.signer else {
      Issue.record("the fixture's key is not in this process")
      return
    }
    let remote = try ClientKey(algorithm: .es256, keyID: own.keyID) { message in
      if isBroken.withLock(\.self) { throw CancellationError() }
      return try #require(privateKey.signature(of: message, by: .ecdsa(.p256, .sha256)))
    }
    let account = try client.account(
      client.configuration(remote, redirectURI: "http://127.0.0.1/callback"))
    try await account.signIn()
    isBroken.withLock { $0 = true }
    let error = await failure(.clientKeyFailed) { try await account.refresh() }
    #expect(error?.requiresSignIn == false && error?.cause is CancellationError)
    #expect(client.sandbox.requests(to: .token).count == 1, "the refresh was not sent")
    isBroken.withLock { $0 = false }
    client.clock.advance(by: 61)
    #expect(try await account.refresh().accessToken != "")
    #expect(client.sandbox.requests(to: .token).count == 2)
  }
}
