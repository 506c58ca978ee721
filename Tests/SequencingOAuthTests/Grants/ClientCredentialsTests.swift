import Foundation
import OAuthSandbox
import SequencingOAuth
import TestSupport
import Testing

/// A program that acts in its own name.
@Suite("Client credentials", .timeLimit(.minutes(1))) struct ClientCredentialsTests {
  /// A server that gives such tokens no refresh token, as RFC 6749, section 4.4.3, says.
  func bench(lifetime: Int? = 3600) throws -> SessionFixture {
    let bench = try SessionFixture(lifetime: lifetime)
    bench.server.change { $0.refreshToken = "" }
    return bench
  }

  @Test func `the token is fetched, stored, and fetched anew when it has expired`() async throws {
    let bench = try bench()
    let token = try await bench.module.requestAccessTokenAsClient(scope: "demo x")
    #expect(token.accessToken == "T1" && token.refreshToken == nil)
    #expect(try await bench.module.token() == token)
    bench.clock.advance(by: 3570)
    #expect(try await bench.module.token().accessToken == "T2")
    #expect(try await bench.module.refresh().accessToken == "T3")
    bench.module.invalidateAccessToken()
    #expect(try await bench.module.token().accessToken == "T4")
    let form = ["grant_type": "client_credentials", "scope": "demo x"]
    #expect(bench.bench.http.forms == [form, form, form, form])
    #expect(await bench.store.content() == "T4 -")
    #expect(await bench.observer.words(3) == ["refreshed T2", "refreshed T3", "refreshed T4"])
  }

  @Test func `no authorization endpoint is needed, but to sign a user in`() async throws {
    let bench = try bench()
    _ = try bench.bench.register(provider: .endpoints(token: "https://id.example/token"))
    #expect(try await bench.module.requestAccessTokenAsClient().accessToken == "T1")
    await failure(.invalidConfiguration) { try await bench.module.signIn() }
    #expect(bench.bench.opened.isEmpty)
  }

  // MARK: Asked for by the configuration

  func ownFixture() throws -> SessionFixture {
    let bench = try SessionFixture(change: { $0.usesClientCredentials = true })
    bench.server.change { $0.refreshToken = "" }
    return bench
  }

  @Test func `a client that acts in its own name needs no call for its tokens`() async throws {
    let bench = try ownFixture()
    #expect(try await bench.module.token().accessToken == "T1")
    bench.clock.advance(by: 3600)
    #expect(try await bench.module.send(.get("https://api.example/x")).status == 200)
    #expect(try await bench.module.requestAccess().accessToken == "T2")
    try await bench.module.signOut()
    #expect(try await bench.oauth.token().accessToken == "T3")
    #expect(bench.bench.opened.isEmpty)
    #expect(
      bench.bench.http.forms.first == ["grant_type": "client_credentials", "scope": "demo"])
  }

  @Test func `any number of callers gets its first token by one request`() async throws {
    let bench = try ownFixture()
    let module = bench.module
    bench.server.signInGate.close()
    let callers = (0..<1_000).map { _ in begin { try await module.token() } }
    let leaver = begin { try await module.token() }
    try await bench.server.signInGate.isHolding()
    leaver.cancel()
    await failure(.cancelled) { try await leaver.value }
    bench.server.signInGate.open()
    for caller in callers { #expect(try await caller.value.accessToken == "T1") }
    #expect(bench.requests == ["client_credentials"])
  }

  @Test func `a refused client is refused once for all callers, for some time`() async throws {
    let bench = try ownFixture()
    bench.server.next(ScriptedHTTPClient.json(#"{"error":"invalid_client"}"#, status: 401))
    for _ in 0..<3 { await failure(.invalidClient) { try await bench.module.token() } }
    await failure(.invalidClient) { try await bench.module.requestAccess() }
    #expect(bench.requests.count == 1 && bench.bench.opened.isEmpty)
    bench.clock.advance(by: 1)
    #expect(try await bench.module.token().accessToken == "T1")
  }

  @Test func `a sign-out while its first token is fetched is not undone by it`() async throws {
    let bench = try ownFixture()
    let module = bench.module
    bench.server.signInGate.close()
    let caller = begin { try await module.token() }
    try await bench.server.signInGate.isHolding()
    try await module.signOut()
    bench.server.signInGate.open()
    // The caller still wants a token, and gets that of another request.
    let token = try await caller.value
    #expect(bench.requests == ["client_credentials", "client_credentials"])
    #expect(module.currentToken == token)
  }

  @Test func `a client that cannot sign a user in is told which call was meant`() async throws {
    let configuration = try ClientConfiguration(
      clientID: "client", clientSecret: "secret",
      provider: .endpoints(token: "https://id.example/token"))
    let module = AuthorizationModule(configuration: configuration)
    let error = await failure(.notAuthorized) { try await module.token() }
    #expect(error?.message.contains("usesClientCredentials") == true)
    #expect(error?.message.contains("requestAccessTokenAsClient") == true)
  }

  @Test func `a 401 fetches a new one`() async throws {
    let bench = try bench()
    try await bench.module.requestAccessTokenAsClient()
    bench.server.refuse("T1")
    #expect(try await bench.module.send(.get("https://api.example/x")).status == 200)
    #expect(
      bench.requests == ["client_credentials", "GET /x T1", "client_credentials", "GET /x T2"])
  }

  @Test func `any number of callers is one request`() async throws {
    let bench = try bench()
    let module = bench.module
    try await module.requestAccessTokenAsClient()
    bench.clock.advance(by: 3600)
    bench.server.signInGate.close()
    let callers = (0..<1_000).map { _ in begin { try await module.token() } }
    try await bench.server.signInGate.isHolding()
    bench.server.signInGate.open()
    for caller in callers { #expect(try await caller.value.accessToken == "T2") }
    #expect(bench.requests.count == 2)
  }

  @Test func `the timer fetches the next one`() async throws {
    let bench = try bench()
    bench.module.refreshesAutomatically = true
    try await bench.module.requestAccessTokenAsClient()
    await bench.clock.hasSleeper()
    bench.clock.advance(by: 3204)
    #expect(await bench.observer.words(1) == ["refreshed T2"])
  }

  @Test func `a failure keeps the old one, and no invalid_client ends the session`() async throws {
    let bench = try bench()
    try await bench.module.requestAccessTokenAsClient()
    bench.clock.advance(by: 3600)
    bench.server.next(ScriptedHTTPClient.json(#"{"error":"invalid_client"}"#, status: 401))
    await failure(.invalidClient) { try await bench.module.token() }
    #expect(bench.memory == "T1 -")
    bench.clock.advance(by: 1)
    #expect(try await bench.module.token().accessToken == "T2")
  }

  /// Some servers give one all the same.
  @Test func `a refresh token is used where there is one`() async throws {
    let bench = try SessionFixture()
    try await bench.module.requestAccessTokenAsClient()
    bench.clock.advance(by: 3600)
    #expect(try await bench.module.token().accessToken == "T2")
    #expect(bench.requests == ["client_credentials", "refresh R1"])
  }

  @Test func `a user who signs in later is not renewed this way`() async throws {
    let bench = try bench()
    try await bench.module.requestAccessTokenAsClient()
    _ = try await bench.oauth.signIn()
    bench.clock.advance(by: 3600)
    await failure(.notAuthorized) { try await bench.module.token() }
    #expect(bench.requests == ["client_credentials", "authorization_code"])
  }

  @Test func `without a secret there is nothing to ask with`() async throws {
    let bench = try SessionFixture()
    try bench.bench.register(secret: nil)
    await failure(.invalidConfiguration) { try await bench.module.requestAccessTokenAsClient() }
    #expect(bench.requests.isEmpty)
  }

  @Test func `a client that signs nobody in needs no redirect URI`() async throws {
    let bench = try bench()
    try bench.bench.register(redirectURI: nil)
    #expect(try await bench.module.requestAccessTokenAsClient().accessToken == "T1")
    let error = await failure(.invalidConfiguration) { try await bench.module.signIn() }
    #expect(error?.message.contains("redirect URI") == true)
    #expect(bench.requests == ["client_credentials"])
  }

  @Test func `at a server`() async throws {
    let bench = try await SandboxFixture().register(
      clientID: "sandbox-service", secret: "sandbox-secret", byHand: true)
    let module = bench.oauth.module
    let first = try await module.requestAccessTokenAsClient(scope: "demo")
    bench.clock.advance(by: 3600)
    let second = try await module.token()
    #expect(first != second && second.refreshToken == nil && second.scope == "demo")
    let request = HTTPRequest(url: bench.sandbox.url(.me))
    let response = try await module.send(request)
    #expect(response.status == 200)
    #expect(String(decoding: response.body, as: UTF8.self).contains("sandbox-service"))
    #expect(bench.endpoints == [.token, .token, .me])
  }
}
