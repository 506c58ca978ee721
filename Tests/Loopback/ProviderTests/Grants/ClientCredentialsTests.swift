import Foundation
import OAuthSandbox
import SQBasics
import SequencingOAuth
import Testing

@testable import LoopbackSupport
@testable import TestSupport

/// A program that acts in its own name, without a user.
@Suite("Client credentials", .timeLimit(.minutes(1))) struct ClientCredentialsTests {
  /// Creates a server that sends no refresh token, as RFC 6749, section 4.4.3, recommends.
  func fixture(lifetime: Int? = 3600) throws -> SessionFixture {
    let fixture = try SessionFixture(lifetime: lifetime)
    fixture.server.change { $0.refreshToken = "" }
    return fixture
  }

  @Test func `the token is fetched, stored, and fetched again when it expires`() async throws {
    let fixture = try fixture()
    let token = try await fixture.module.requestAccessTokenAsClient(scope: "demo x")
    #expect(token.accessToken == "T1" && token.refreshToken == nil)
    #expect(try await fixture.module.token() == token)
    fixture.clock.advance(by: 3570)
    #expect(try await fixture.module.token().accessToken == "T2")
    #expect(try await fixture.module.refresh().accessToken == "T3")
    fixture.module.invalidateAccessToken()
    #expect(try await fixture.module.token().accessToken == "T4")
    let form = ["grant_type": "client_credentials", "scope": "demo x"]
    #expect(fixture.fixture.http.forms == [form, form, form, form])
    #expect(await fixture.store.content() == "T4 -")
    #expect(await fixture.observer.words(3) == ["refreshed T2", "refreshed T3", "refreshed T4"])
  }

  @Test func `only signing a user in needs an authorization endpoint`() async throws {
    let fixture = try fixture()
    _ = try fixture.fixture.register(provider: .endpoints(token: "https://id.example/token"))
    #expect(try await fixture.module.requestAccessTokenAsClient().accessToken == "T1")
    await failure(.invalidConfiguration) { try await fixture.module.signIn() }
    #expect(fixture.fixture.opened.isEmpty)
  }

  // MARK: Enabled in the configuration

  func ownFixture() throws -> SessionFixture {
    let fixture = try SessionFixture(change: { $0.usesClientCredentials = true })
    fixture.server.change { $0.refreshToken = "" }
    return fixture
  }

  @Test func `with usesClientCredentials, an API call fetches the token that it needs`()
    async throws
  {
    let fixture = try ownFixture()
    #expect(try await fixture.module.token().accessToken == "T1")
    fixture.clock.advance(by: 3600)
    #expect(try await fixture.module.send(.get("https://api.example/x")).status == 200)
    #expect(try await fixture.module.requestAccess().accessToken == "T2")
    try await fixture.module.signOut()
    #expect(try await fixture.oauth.token().accessToken == "T3")
    #expect(fixture.fixture.opened.isEmpty)
    #expect(
      fixture.fixture.http.forms.first == ["grant_type": "client_credentials", "scope": "demo"])
  }

  @Test func `many callers share one request for the first token`() async throws {
    let fixture = try ownFixture()
    let module = fixture.module
    fixture.server.signInGate.close()
    let callers = (0..<1_000).map { _ in begin { try await module.token() } }
    let leaver = begin { try await module.token() }
    try await fixture.server.signInGate.isHolding()
    leaver.cancel()
    await failure(.cancelled) { try await leaver.value }
    fixture.server.signInGate.open()
    for caller in callers { #expect(try await caller.value.accessToken == "T1") }
    #expect(fixture.requests == ["client_credentials"])
  }

  @Test func `after invalid_client no caller sends a token request for a second`() async throws {
    let fixture = try ownFixture()
    fixture.server.next(ScriptedTransport.json(#"{"error":"invalid_client"}"#, status: 401))
    for _ in 0..<3 { await failure(.invalidClient) { try await fixture.module.token() } }
    await failure(.invalidClient) { try await fixture.module.requestAccess() }
    #expect(fixture.requests.count == 1 && fixture.fixture.opened.isEmpty)
    fixture.clock.advance(by: 1)
    #expect(try await fixture.module.token().accessToken == "T1")
  }

  @Test func `a sign-out discards the token of a request that is still in progress`() async throws {
    let fixture = try ownFixture()
    let module = fixture.module
    fixture.server.signInGate.close()
    let caller = begin { try await module.token() }
    try await fixture.server.signInGate.isHolding()
    try await module.signOut()
    fixture.server.signInGate.open()
    // The caller still needs a token, so it gets the token of a second request.
    let token = try await caller.value
    #expect(fixture.requests == ["client_credentials", "client_credentials"])
    #expect(module.currentToken == token)
  }

  @Test func `without an authorization endpoint, the error names the client credentials options`()
    async throws
  {
    let configuration = try ClientConfiguration(
      clientID: "client", clientSecret: "secret",
      provider: .endpoints(token: "https://id.example/token"))
    let module = AuthorizationModule(configuration: configuration)
    let error = await failure(.notAuthorized) { try await module.token() }
    #expect(error?.message.contains("usesClientCredentials") == true)
    #expect(error?.message.contains("requestAccessTokenAsClient") == true)
  }

  @Test func `a 401 answer makes the client fetch a new token`() async throws {
    let fixture = try fixture()
    try await fixture.module.requestAccessTokenAsClient()
    fixture.server.refuse("T1")
    #expect(try await fixture.module.send(.get("https://api.example/x")).status == 200)
    #expect(
      fixture.requests == ["client_credentials", "GET /x T1", "client_credentials", "GET /x T2"])
  }

  @Test func `many callers share one request for the next token`() async throws {
    let fixture = try fixture()
    let module = fixture.module
    try await module.requestAccessTokenAsClient()
    fixture.clock.advance(by: 3600)
    fixture.server.signInGate.close()
    let callers = (0..<1_000).map { _ in begin { try await module.token() } }
    try await fixture.server.signInGate.isHolding()
    fixture.server.signInGate.open()
    for caller in callers { #expect(try await caller.value.accessToken == "T2") }
    #expect(fixture.requests.count == 2)
  }

  @Test func `with automatic refresh, a timer fetches the next token before the old one expires`()
    async throws
  {
    let fixture = try fixture()
    fixture.module.refreshesAutomatically = true
    try await fixture.module.requestAccessTokenAsClient()
    await fixture.clock.hasSleeper()
    fixture.clock.advance(by: 3204)
    #expect(await fixture.observer.words(1) == ["refreshed T2"])
  }

  @Test func `a failed request keeps the old token, and invalid_client does not end the session`()
    async throws
  {
    let fixture = try fixture()
    try await fixture.module.requestAccessTokenAsClient()
    fixture.clock.advance(by: 3600)
    fixture.server.next(ScriptedTransport.json(#"{"error":"invalid_client"}"#, status: 401))
    await failure(.invalidClient) { try await fixture.module.token() }
    #expect(fixture.memory == "T1 -")
    fixture.clock.advance(by: 1)
    #expect(try await fixture.module.token().accessToken == "T2")
  }

  /// Some servers send a refresh token although they should not.
  @Test func `a refresh token is used if the server sent one`() async throws {
    let fixture = try SessionFixture()
    try await fixture.module.requestAccessTokenAsClient()
    fixture.clock.advance(by: 3600)
    #expect(try await fixture.module.token().accessToken == "T2")
    #expect(fixture.requests == ["client_credentials", "refresh R1"])
  }

  @Test func `the token of a user who signs in later is not renewed with client credentials`()
    async throws
  {
    let fixture = try fixture()
    try await fixture.module.requestAccessTokenAsClient()
    _ = try await fixture.oauth.signIn()
    fixture.clock.advance(by: 3600)
    await failure(.notAuthorized) { try await fixture.module.token() }
    #expect(fixture.requests == ["client_credentials", "authorization_code"])
  }

  @Test func `a client without a secret or a key sends no request`() async throws {
    let fixture = try SessionFixture()
    try fixture.fixture.register(secret: nil)
    await failure(.invalidConfiguration) { try await fixture.module.requestAccessTokenAsClient() }
    #expect(fixture.requests.isEmpty)
  }

  @Test func `a client that signs in no user needs no redirect URI`() async throws {
    let fixture = try fixture()
    try fixture.fixture.register(redirectURI: nil)
    #expect(try await fixture.module.requestAccessTokenAsClient().accessToken == "T1")
    let error = await failure(.invalidConfiguration) { try await fixture.module.signIn() }
    #expect(error?.message.contains("redirect URI") == true)
    #expect(fixture.requests == ["client_credentials"])
  }

  @Test func `the sandbox's API accepts tokens from client credentials`() async throws {
    let fixture = try await SandboxFixture().register(
      clientID: "sandbox-service", secret: "sandbox-secret", byHand: true)
    let module = fixture.oauth.module
    let first = try await module.requestAccessTokenAsClient(scope: "demo")
    fixture.clock.advance(by: 3600)
    let second = try await module.token()
    #expect(first != second && second.refreshToken == nil && second.scope == "demo")
    let request = WebRequest(url: fixture.sandbox.url(.me))
    let response = try await module.send(request)
    #expect(response.status == 200)
    #expect(String(decoding: response.body, as: UTF8.self).contains("sandbox-service"))
    #expect(fixture.endpoints == [.token, .token, .me])
  }
}
