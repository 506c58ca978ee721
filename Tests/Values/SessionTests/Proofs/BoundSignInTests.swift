import Foundation
import SQBasics
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// Sign-ins whose tokens are bound to a key of the account (RFC 9449).
@Suite(.timeLimit(.minutes(1))) struct BoundSignInTests {
  @Test(arguments: [false, true])
  func `the code and the tokens are bound to a new key, which is stored with the account`(
    pushes: Bool
  ) async throws {
    let world = try await ProofWorld(pushes: pushes).signedIn()
    let key = try #require(await world.storedKey)
    let request = try #require(world.requests("/token").first)
    #expect(request.proof?.thumbprint == key.thumbprint && request.proof?.tokenDigest == nil)
    #expect(request.proof?["htu"] == "https://id.example/token")
    let page = try #require(world.fixture.opened.first)
    if pushes {
      let pushed = try #require(world.requests("/par").first)
      #expect(pushed.form["dpop_jkt"] == key.thumbprint && pushed.proof?.id != request.proof?.id)
      #expect(pushed.proof?.thumbprint == key.thumbprint && pushed.proof?.tokenDigest == nil)
      #expect(Set(page.parameters.keys) == ["client_id", "request_uri"])
    } else {
      #expect(page.parameters["dpop_jkt"] == key.thumbprint)
    }
    let token = try #require(world.module.currentToken)
    #expect(token.isBound && token.tokenType == "DPoP")
    #expect(world.module.authorizationFields == nil)
  }

  @Test func `a client without a token binding sends no DPoP proof and no thumbprint`() async throws
  {
    let fixture = try OAuthFixture().register()
    try await fixture.oauth.signIn()
    #expect(fixture.http.requests.allSatisfy { $0.headers["DPoP"] == nil })
    #expect(try #require(fixture.opened.first).parameters["dpop_jkt"] == nil)
    #expect(fixture.oauth.module.currentToken?.isBound == false)
  }

  @Test(arguments: ["invalid_dpop_proof", "use_dpop_nonce"], [false, true])
  func `if a client without tokenBinding is asked for a proof, its error recommends that setting`(
    code: String, pushes: Bool
  ) async throws {
    let advice = "set the configuration's tokenBinding"
    let answer = ScriptedTransport.json(#"{"error":"\#(code)"}"#, status: 400)
    let provider = Provider.endpoints(
      authorization: "https://id.example/authorize", token: "https://id.example/token",
      pushedAuthorization: "https://id.example/par")
    let plain = try OAuthFixture(answer: answer).register(provider: provider) {
      $0.pushesAuthorizationRequests = pushes
    }
    let error = await failure { try await plain.oauth.signIn() }
    #expect(error?.code.rawValue == code && error?.message.contains(advice) == true)
    let world = try ProofWorld(pushes: pushes)
    world.fixture.http.answer(answer)
    let other = await failure { try await world.module.signIn() }
    #expect(other?.code.rawValue == code && other?.message.contains(advice) == false)
  }

  @Test(arguments: ["mac", ""])
  func `an unexpected token type causes an error that says a DPoP token was asked for`(type: String)
    async throws
  {
    let world = try ProofWorld()
    world.change { $0.tokenType = type }
    let error = await failure(.invalidResponse) { try await world.module.signIn() }
    #expect(error?.message.contains("token bound to a key (DPoP) was asked for") == true)
  }

  @Test func `each sign-in has a key of its own, and a refresh keeps it`() async throws {
    let world = try await ProofWorld().signedIn()
    let first = try #require(await world.storedKey)
    try await world.module.refresh()
    #expect(await world.storedKey == first)
    #expect(world.requests("/token").allSatisfy { $0.proof?.thumbprint == first.thumbprint })
    try await world.signedIn()
    #expect(await world.storedKey != first)
  }

  @Test(arguments: ["dpOp", "DPOP", "dpop"])
  func `the token type is compared without case`(type: String) async throws {
    let world = try ProofWorld()
    world.change { $0.tokenType = type }
    try await world.signedIn()
    #expect(try await world.send().status == 200)
    #expect(world.requests("/x").first?.request.headers["Authorization"] == "DPoP T1")
  }

  @Test(arguments: ["Bearer", "bearer"])
  func `a Bearer token is refused, and nothing is stored`(type: String) async throws {
    let world = try ProofWorld()
    world.change { $0.tokenType = type }
    await failure(.tokenNotBound) { try await world.signedIn() }
    #expect(await world.store.list().isEmpty && world.module.currentToken == nil)
  }

  /// The old refresh token may be used up, so the new one is kept.
  @Test func `if a refresh returns a Bearer token, only the new refresh token is kept`()
    async throws
  {
    let world = try await ProofWorld().signedIn()
    world.change { $0.tokenType = "Bearer" }
    await failure(.tokenNotBound) { try await world.module.refresh() }
    let record = try #require(await world.store.load("default"))
    #expect(record.token.accessToken == "T1" && record.token.refreshToken == "R2")
    #expect(record.token.isBound)
    world.change { $0.tokenType = "DPoP" }
    world.clock.advance(by: 120)
    try await world.module.refresh()
    #expect(world.module.currentToken?.accessToken == "T3")
  }

  @Test func `a DPoP token that was not asked for is refused, and the error mentions tokenBinding`()
    async throws
  {
    let fixture = try OAuthFixture(
      answer: ScriptedTransport.json(#"{"access_token":"T","token_type":"DPoP"}"#)
    ).register()
    let error = await failure(.invalidResponse) { try await fixture.oauth.signIn() }
    #expect(error?.message.contains("tokenBinding") == true)
  }

  @Test func `a second process with the same store uses the same key`() async throws {
    let world = try await ProofWorld().signedIn()
    let key = try #require(await world.storedKey)
    let configuration = try world.module.context.configuration.get()
    let other = AuthorizationModule(
      configuration: configuration, environment: world.module.environment)
    _ = try await other.send(try .get("https://api.example/x"))
    try await other.refresh()
    #expect(world.seen.allSatisfy { $0.proof?.thumbprint == key.thumbprint })
  }

  @Test
  func `an app's own key is not stored, and a configuration without that key is an error`()
    async throws
  {
    let key = try ClientKey(generating: .es256)
    let world = try await ProofWorld(binding: .dpopKey(key)).signedIn()
    let record = try #require(await world.store.load("default"))
    #expect(try record.proofKey?.thumbprint == key.keyID && record.proofKey?.storedKey == nil)
    #expect(try await world.send().status == 200)
    var configuration = try world.module.context.configuration.get()
    configuration.tokenBinding = .dpop()
    world.module.register(configuration)
    await failure(.invalidConfiguration) { try await world.send() }
    await failure(.invalidConfiguration) { try await world.module.refresh() }
    #expect(await world.store.load("default") == record)
  }

  @Test func `a DPoP token without its key cannot be adopted`() async throws {
    let world = try await ProofWorld().signedIn()
    let text = try JSONEncoder().encode(try #require(world.module.currentToken))
    let token = try JSONDecoder().decode(SQToken.self, from: text)
    #expect(!token.isBound)
    let other = try ProofWorld()
    await failure(.tokenNotBound) { try await other.module.adopt(token) }
    #expect(other.seen.isEmpty)
  }

  @Test func `a client credentials token is bound to a key, and a refresh uses the same key`()
    async throws
  {
    let world = try ProofWorld()
    try await world.module.requestAccessTokenAsClient()
    let key = try #require(await world.storedKey)
    try await world.module.refresh()
    #expect(world.requests("/token").count == 2)
    #expect(world.requests("/token").allSatisfy { $0.proof?.thumbprint == key.thumbprint })
  }

  @Test func `a revocation request is sent with a proof only after the server has asked for one`()
    async throws
  {
    let world = try await ProofWorld().signedIn()
    try await world.module.revoke()
    #expect(world.requests("/revoke").map { $0.proof == nil } == [true, true])
    let strict = try await ProofWorld().signedIn()
    let asks = Locked(true)
    strict.fixture.http.answer { request in
      guard try SentProof(request) == nil, asks.withLock({ $0 }) else {
        return WebResponse(status: 200)
      }
      return WebResponse(
        status: 400, headers: ["Content-Type": "application/json", "DPoP-Nonce": "n"],
        body: Data(#"{"error":"invalid_dpop_proof"}"#.utf8))
    }
    try await strict.module.revoke()
    let proofs = try strict.fixture.http.requests.filter { $0.url.path() == "/revoke" }
      .map { try SentProof($0) }
    #expect(proofs.map { $0 == nil } == [true, false, true, false])
    #expect(proofs.compactMap { $0?.nonce } == ["n", "n"])
  }

  /// An account with client credentials has no sign-in that could bring it a key.
  @Test func `a client credentials account without a key gets one with its next token`()
    async throws
  {
    let world = try ProofWorld()
    let token = SQToken(accessToken: "old", expirationDate: world.clock.now - 1)
    await world.store.save(
      AccountRecord(
        id: "default", clientID: "client", grant: .clientCredentials(scope: "demo"), token: token))
    world.change { $0.issuesRefreshTokens = false }
    _ = try await world.module.token()
    let key = try #require(await world.storedKey)
    try await world.module.refresh()
    #expect(await world.storedKey == key)
    var configuration = try world.module.context.configuration.get()
    let own = try ClientKey(generating: .es256)
    configuration.tokenBinding = .dpopKey(own)
    world.module.register(configuration)
    try await world.module.refresh()
    #expect(await world.storedKey?.thumbprint == own.keyID)
  }
}
