import Foundation
import OAuthSandbox
import SQBasics
import Testing

@testable import LoopbackSupport
@testable import SequencingOAuth
@testable import SequencingOAuthBackend
@testable import TestSupport

/// Clients that authenticate with an assertion of their platform (RFC 7523, section 2.2).
@Suite(.timeLimit(.minutes(2))) struct PlatformAssertionTests {
  private let parameter = "client_assertion"

  @Test func `each request at each endpoint has a new assertion for the issuer`() async throws {
    let client = try await PlatformFixture()
    let account = try client.authenticated(
      redirectURI: "http://127.0.0.1/callback", scope: "openid demo"
    ) { $0.pushesAuthorizationRequests = true }
    try await account.signIn()
    try await account.refresh()
    _ = try await account.exchangeToken(TokenExchange(audiences: ["x"]))
    let introspector = TokenIntrospector(
      try #require(account.configuration), audience: nil, environment: client.environment)
    #expect(try await introspector.claims(of: try await account.token().accessToken) != nil)
    try await account.revoke()
    let requests = client.requests(with: parameter)
    #expect(
      requests.compactMap(\.endpoint) == [
        .pushedAuthorization, .token, .token, .token, .introspection, .revocation, .revocation,
      ])
    #expect(Set(requests.compactMap { $0.form(parameter) }).count == requests.count)
    for request in requests {
      #expect(request.form("client_id") == PlatformFixture.id)
      #expect(request.form("client_assertion_type") == ClientCredentials.assertionType)
      #expect(request.form("client_secret") == nil && request.header("authorization") == nil)
    }
    let issuer = client.sandbox.issuer.absoluteString
    #expect(client.asked.audiences == requests.map { _ in issuer })
  }

  @Test func `a device authenticates when it asks for a code and for the token`() async throws {
    let client = try await PlatformFixture()
    let account = try client.authenticated()
    let token = try await account.signInWithDeviceCode(enteredBy: SandboxVisitor(), client.clock)
    #expect(token.scopes == ["demo"])
    #expect(
      client.requests(with: parameter).compactMap(\.endpoint) == [.deviceAuthorization, .token])
  }

  @Test func `a request that is repeated with a DPoP nonce has a new assertion`() async throws {
    let client = try await PlatformFixture {
      $0.dpop = SandboxDPoPOptions(.required)
      $0.dpop.noncesRequiredBy = [.authorizationServer]
    }
    let account = try client.authenticated { $0.tokenBinding = .dpop() }
    try await account.requestAccessTokenAsClient()
    let sent = client.requests(with: parameter).compactMap { $0.form(parameter) }
    #expect(sent.count == 2 && Set(sent).count == 2)
  }

  @Test func `an assertion file is read again for each token request`() async throws {
    let client = try await PlatformFixture()
    let folder = try TemporaryFolder()
    let path = URL(filePath: folder.file("token"))
    let account = try client.authenticated(by: .file(folder.file("token")))
    for _ in 0..<2 {
      let text = try await client.token(for: client.sandbox.issuer.absoluteString)
      try Data((text + "\n").utf8).write(to: path)
      try await account.requestAccessTokenAsClient()
      #expect(client.requests(with: parameter).last?.form(parameter) == text)
    }
  }

  @Test
  func `a source gets the provider's audience, and an assertion for another audience is not sent`()
    async throws
  {
    let client = try await PlatformFixture()
    var provider = client.provider
    provider.assertionAudience = .other("api://exchange")
    let account = client.account(
      try ClientConfiguration(
        clientID: PlatformFixture.id, clientAssertionSource: client.source, provider: provider))
    await failure(.invalidClient) { try await account.requestAccessTokenAsClient() }
    #expect(client.asked.audiences == ["api://exchange"])
    let cluster = AssertionSource { [client] _ in
      try await client.token(for: "https://kubernetes.default.svc")
    }
    await failure(.clientKeyFailed) {
      try await client.authenticated(by: cluster).requestAccessTokenAsClient()
    }
    #expect(client.sandbox.requests(to: .token).count == 1, "only the first assertion was sent")
  }

  @Test func `a refused assertion is not retried, and the error does not show it`() async throws {
    let client = try await PlatformFixture()
    let source = AssertionSource { [client] in try await client.token(for: $0, workload: "other") }
    let error = await failure(.invalidClient) {
      try await client.authenticated(by: source).requestAccessTokenAsClient()
    }
    let requests = client.sandbox.requests(to: .token)
    let sent = try #require(requests.first?.form(parameter))
    if let error { #expect(!everyText(of: error).contains(sent)) }
    #expect(requests.count == 1)
  }

  @Test
  func `a server that does not list private_key_jwt gets a token request only if the app chose it`()
    async throws
  {
    let client = try await PlatformFixture()
    let methods = SandboxMisbehaviour.member(
      "token_endpoint_auth_methods_supported", ["client_secret_basic", "none"])
    client.sandbox.misbehave(at: .metadata, methods)
    let account = try client.authenticated()
    await failure(.invalidConfiguration) { try await account.requestAccessTokenAsClient() }
    #expect(client.sandbox.requests(to: .token).isEmpty && client.asked.audiences.isEmpty)
    client.sandbox.misbehave(at: .metadata, methods)
    let sure = client.account(
      try ClientConfiguration(
        clientID: PlatformFixture.id, clientAssertionSource: client.source,
        provider: client.provider, clientAuthentication: .privateKeyJWT))
    #expect(try await sure.requestAccessTokenAsClient().accessToken != "")
  }

  @Test(arguments: ["sandbox-service", "unknown"])
  func `an assertion that is sent with another client's ID is refused`(id: String) async throws {
    let client = try await PlatformFixture()
    let account = client.account(
      try ClientConfiguration(
        clientID: id, clientAssertionSource: client.source, provider: client.provider))
    await failure(.invalidClient) { try await account.requestAccessTokenAsClient() }
    #expect(client.sandbox.requests(to: .token).count == 1)
  }

  @Test func `a client with an assertion source and a key authenticates with the source`()
    async throws
  {
    let client = try await PlatformFixture()
    let account = client.account(
      try ClientConfiguration(
        clientID: PlatformFixture.id, clientKey: try MadeKeys.key(for: .es256),
        clientAssertionSource: client.source, provider: client.provider))
    try await account.requestAccessTokenAsClient()
    #expect(client.asked.audiences.count == 1)
  }

  @Test func `an error about a source's assertion does not name the client's key`() async throws {
    let client = try await PlatformFixture()
    let source = AssertionSource { [client] in try await client.token(for: $0, workload: "other") }
    let account = client.account(
      try ClientConfiguration(
        clientID: PlatformFixture.id, clientKey: try MadeKeys.key(for: .es256),
        clientAssertionSource: source, provider: client.provider))
    let error = await failure(.invalidClient) { try await account.requestAccessTokenAsClient() }
    #expect(error?.message.contains("signs with the key") == false, "\(error?.message ?? "")")
    #expect(error?.message.contains("assertionAudience") == true, "\(error?.message ?? "")")
  }

  @Test func `a server need not list the key's algorithm if a source brings the assertions`()
    async throws
  {
    let client = try await PlatformFixture()
    client.sandbox.misbehave(
      at: .metadata, .member("token_endpoint_auth_signing_alg_values_supported", ["RS256"]),
      times: nil)
    let account = client.account(
      try ClientConfiguration(
        clientID: PlatformFixture.id, clientKey: try MadeKeys.key(for: .es256),
        clientAssertionSource: client.source, redirectURI: "http://127.0.0.1/callback",
        scope: "demo", provider: client.provider))
    try await account.signIn()
    #expect(client.asked.audiences.count == 1)
  }

  @Test
  func `if the assertion source fails, a refresh keeps the tokens, and a later refresh succeeds`()
    async throws
  {
    let client = try await PlatformFixture()
    let account = try client.authenticated(redirectURI: "http://127.0.0.1/callback")
    try await account.signIn()
    client.asked.fail()
    let error = await failure(.clientKeyFailed) { try await account.refresh() }
    #expect(error?.requiresSignIn == false && error?.cause is CancellationError)
    #expect(client.sandbox.requests(to: .token).count == 1, "the refresh was not sent")
    client.asked.fail(false)
    client.clock.advance(by: 61)
    #expect(try await account.refresh().accessToken != "")
  }

  @Test
  func `with usesClientCredentials, a daemon without a secret fetches its first token itself`()
    async throws
  {
    let client = try await PlatformFixture()
    let idle = try client.authenticated()
    let error = await failure(.notAuthorized) { try await idle.token() }
    #expect(error?.message.contains("usesClientCredentials") == true)
    let account = try client.authenticated { $0.usesClientCredentials = true }
    #expect(try await account.token().scopes == ["demo"])
  }
}
