import Foundation
import Testing

@testable import SQBasics
@testable import SequencingOAuth
@testable import TestSupport

/// An account with alice's token of one server, in a module that the app registers for another one.
@Suite(.timeLimit(.minutes(1))) struct AnotherServerTests {
  static let first = OAuthFixture.issuer
  static let second = "https://other.example"

  /// A use of the account's token at the authorization server.
  enum Use: CaseIterable, Sendable {
    case userInfo, exchange, grantForIDToken, grantForRefreshToken

    func run(_ world: SessionFixture) async throws {
      switch self {
      case .userInfo: _ = try await world.module.userInfo()
      case .exchange: _ = try await world.module.exchangeToken(TokenExchange())
      case .grantForIDToken: try await Self.grant(.idToken, world)
      case .grantForRefreshToken: try await Self.grant(.refreshToken, world)
      }
    }

    /// Gets a token of a third server for the account's user.
    private static func grant(_ subject: TokenType, _ world: SessionFixture) async throws {
      var configuration = try AnotherServerTests.client(at: "https://chat.example")
      configuration.grantAssertionSource = .identityProvider(world.module, subject: subject)
      var environment = world.oauth.environment
      environment.tokenStore = MemoryTokenStore()
      _ = try await AuthorizationModule(configuration: configuration, environment: environment)
        .requestAccessTokenByAssertion()
    }

    /// Returns the code of an error, or of the error in a source of assertions.
    static func code(of error: SQOAuthError?) -> SQOAuthError.Code? {
      error?.code == .clientKeyFailed ? (error?.cause as? SQOAuthError)?.code : error?.code
    }
  }

  static func client(at server: String) throws -> ClientConfiguration {
    try ClientConfiguration(
      clientID: "client", clientSecret: "s", redirectURI: "com.example.app:/cb", scope: "demo",
      provider: .endpoints(
        authorization: "\(server)/authorize", token: "\(server)/token",
        revocation: "\(server)/revoke", jwks: "\(server)/keys", userInfo: "\(server)/userinfo",
        endSession: "\(server)/logout", issuer: server))
  }

  /// Returns a session whose stored account has alice's token; `isInMemory` says whether it was
  /// read.
  func world(
    isInMemory: Bool = true, key: ProofKey? = nil
  ) async throws -> SessionFixture {
    let world = try SessionFixture()
    world.oauth.register(try Self.client(at: Self.first))
    let token = world.server.issue(at: world.clock.now)
    await world.store.memory.save(
      AccountRecord(
        id: "default", clientID: "client", issuer: Self.first,
        token: try token.withScope("demo private").naming("alice", at: Self.first).bound(to: key)))
    if isInMemory { try await world.module.restore() }
    return world
  }

  func register(_ server: String, in world: SessionFixture) throws {
    world.oauth.register(try Self.client(at: server))
  }

  /// The hosts that got requests.
  private func hosts(_ world: SessionFixture) -> Set<String?> {
    Set(world.fixture.http.requests.map { $0.url.host() })
  }

  @Test(arguments: Use.allCases)
  func `a token of one server is not sent to a server that is registered later`(
    use: Use
  ) async throws {
    let world = try await world()
    try register(Self.second, in: world)
    let error = await failure { try await use.run(world) }
    #expect(Use.code(of: error) == .invalidConfiguration)
    #expect(world.requests.isEmpty && world.memory == "T1 R1")
    try register(Self.first, in: world)
    _ = try? await use.run(world)
    #expect(hosts(world).contains("id.example"), "the account's own server still gets the token")
  }

  @Test(arguments: [Use.userInfo, .exchange])
  func `a token that is refreshed during a registration is not sent to the new server`(
    use: Use
  ) async throws {
    let world = try await world()
    world.clock.advance(by: 3600)
    world.server.gate.close()
    let call = begin { try await use.run(world) }
    try await world.server.gate.isHolding()
    try register(Self.second, in: world)
    world.server.gate.open()
    await failure(.invalidConfiguration) { try await call.value }
    #expect(world.requests == ["refresh R1"] && world.memory == "T2 R2")
  }

  @Test(arguments: [Use.userInfo, .exchange])
  func `a token of the new server is not sent to the old one by a call that waited for a refresh`(
    use: Use
  ) async throws {
    let world = try await world()
    world.clock.advance(by: 3600)
    world.server.gate.close()
    let call = begin { try await use.run(world) }
    try await world.server.gate.isHolding()
    try register(Self.second, in: world)
    let theirs = SQToken(
      accessToken: "theirs", expirationDate: world.clock.now + 3600, issueDate: world.clock.now)
    // The token is in memory at once. The store waits for the refresh.
    world.module.adopt(try theirs.naming("bob", at: Self.second)) { _ in }
    world.server.gate.open()
    _ = await call.result
    let toFirst = world.fixture.http.requests.filter { $0.url.host() == "id.example" }
    #expect(toFirst.map { $0.url.path() } == ["/token"], "only the refresh was sent there")
    #expect(ScriptedTransport.form(of: toFirst[0])?["grant_type"] == "refresh_token")
  }

  @Test func `a subject that the app passes goes to the registered server, by a key of its own`()
    async throws
  {
    let key = try ProofKey(.dpop(algorithm: .es256), supported: nil)
    let world = try await world(key: key)
    for server in [Self.first, Self.second] {
      var configuration = try Self.client(at: server)
      configuration.tokenBinding = .dpop(algorithm: .es256)
      world.oauth.register(configuration)
      _ = try? await world.module.exchangeToken(TokenExchange(subject: .accessToken("subject")))
      let request = try #require(world.fixture.http.requests.last)
      #expect(request.url.absoluteString == "\(server)/token")
      #expect(ScriptedTransport.form(of: request)?["subject_token"] == "subject")
      let proof = try #require(try SentProof(request))
      #expect((proof.thumbprint == key.thumbprint) == (server == Self.first))
    }
  }

  // MARK: The logout at the provider

  @Test(arguments: [true, false])
  func
    `no logout page of a server opens for a user of another server, and the tokens are forgotten`(
      isInMemory: Bool
    ) async throws
  {
    let world = try await world(isInMemory: isInMemory)
    try register(Self.second, in: world)
    let error = await failure(.invalidConfiguration) {
      try await world.oauth.endSession(revokesTokens: true)
    }
    #expect(error?.message.contains("the SDK has forgotten the tokens") == true)
    #expect(world.requests.isEmpty && world.fixture.opened.isEmpty)
    #expect(world.memory == nil)
    #expect(await world.store.content() == nil)
  }

  /// A wait of a logout, during which the app registers another client.
  enum Wait: CaseIterable { case load, revocation, erasure }

  @Test(arguments: Wait.allCases)
  func `a registration during a logout does not change the server that gets the ID token`(
    wait: Wait
  ) async throws {
    let world = try await world(isInMemory: wait != .load)
    let revoking = Gate()
    world.api { request in
      await revoking.pass()
      return WebResponse(status: request.url.path() == "/revoke" ? 200 : 404)
    }
    let gate =
      switch wait {
      case .load: world.store.loading
      case .revocation: revoking
      case .erasure: world.store.erasing
      }
    gate.close()
    let logout = begin { try await world.oauth.endSession(revokesTokens: true) }
    try await gate.isHolding()
    try register(Self.second, in: world)
    gate.open()
    try await logout.value
    #expect(hosts(world) == ["id.example"])
    let page = try #require(world.fixture.opened.first)
    #expect(page.url.absoluteString.hasPrefix("https://id.example/logout?"))
    #expect(page.parameters["id_token_hint"] == "ID-token-of.alice.signed")
    #expect(world.fixture.opened.count == 1 && world.memory == nil)
  }

  // MARK: Sign-ins

  @Test(arguments: [true, false])
  func `a silent sign-in names the account's user, also after a restart`(
    isInMemory: Bool
  ) async throws {
    let world = try await world(isInMemory: isInMemory)
    try await world.oauth.signInSilently()
    let page = try #require(world.fixture.opened.first)
    #expect(page.parameters["id_token_hint"] == "ID-token-of.alice.signed")
    #expect(page.parameters["prompt"] == "none")
  }

  @Test(arguments: [true, false])
  func `a silent sign-in at another server names no user`(isInMemory: Bool) async throws {
    let world = try await world(isInMemory: isInMemory)
    try register(Self.second, in: world)
    try await world.oauth.signInSilently()
    let page = try #require(world.fixture.opened.first)
    #expect(page.url.host() == "other.example" && page.parameters["id_token_hint"] == nil)
  }

  @Test func `a registration during a silent sign-in does not show the user to the new server`()
    async throws
  {
    let world = try await world()
    world.store.loading.close()
    let signIn = begin { try await world.oauth.signInSilently() }
    try await world.store.loading.isHolding()
    try register(Self.second, in: world)
    world.store.loading.open()
    _ = try await signIn.value
    let page = try #require(world.fixture.opened.first)
    #expect(page.url.host() == "other.example" && page.parameters["id_token_hint"] == nil)
  }

  /// Returns the error of a request for which the API demands one more scope.
  private func demand(in world: SessionFixture) async throws -> SQOAuthError {
    world.api { _ in
      TokenServer.challenge(#"Bearer error="insufficient_scope", scope="write""#, status: 403)
    }
    return try #require(
      await failure(.insufficientScope) {
        try await world.oauth.send(.get("https://id.example/files"))
      })
  }

  @Test func `a sign-in that an API demands asks another server for none of the account's scopes`()
    async throws
  {
    let world = try await world()
    let error = try await demand(in: world)
    try register(Self.second, in: world)
    try await world.oauth.requestAccess(answering: error)
    let page = try #require(world.fixture.opened.first)
    #expect(page.url.host() == "other.example" && page.parameters["scope"] == "demo write")
  }

  @Test func `a registration during a demanded sign-in ends it before the browser opens`()
    async throws
  {
    let world = try await world()
    let error = try await demand(in: world)
    world.store.loading.close()
    let call = begin { try await world.oauth.requestAccess(answering: error) }
    try await world.store.loading.isHolding()
    try register(Self.second, in: world)
    world.store.loading.open()
    await failure(.invalidConfiguration) { try await call.value }
    #expect(world.fixture.opened.isEmpty && world.memory == "T1 R1")
    try register(Self.first, in: world)
    try await world.oauth.requestAccess(answering: error)
    #expect(world.fixture.opened.first?.parameters["scope"] == "demo private write")
  }
}

extension SQToken {
  fileprivate func withScope(_ scope: String) -> SQToken {
    SQToken(
      accessToken: accessToken, expirationDate: expirationDate, tokenType: tokenType, scope: scope,
      refreshToken: refreshToken, issueDate: issueDate)
  }
}
