import Foundation
import SQBasics
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// The token requests of sign-ins and grants at the end of a program.
@Suite(.timeLimit(.minutes(1))) struct FlushTests {
  enum Way: CaseIterable, Sendable {
    case signIn, password, client, otherGrant

    func token(of module: AuthorizationModule) async throws -> SQToken {
      switch self {
      case .signIn: try await module.signIn()
      case .password: try await module.requestAccessToken(username: "alice", password: "p")
      case .client: try await module.requestAccessTokenAsClient()
      case .otherGrant: try await module.requestAccessToken(grantType: "urn:example:grant")
      }
    }
  }

  @Test(arguments: Way.allCases)
  func `flush waits for a token request until its token is stored`(way: Way) async throws {
    let fixture = try SessionFixture(change: { $0.allowsPasswordGrant = true })
    let (module, server) = (fixture.module, fixture.server)
    server.signInGate.close()
    fixture.store.saving.close()
    let caller = begin { try await way.token(of: module) }
    try await server.signInGate.isHolding()
    #expect(module.tokenRequests.hasRequests)
    server.signInGate.open()
    // The token is here, and the store does not have it yet.
    try await fixture.store.saving.isHolding()
    #expect(module.tokenRequests.hasRequests)
    let end = begin { try await module.flush() }
    fixture.store.saving.open()
    try await end.value
    #expect(await fixture.store.content() == "T1 R1")
    #expect(try await caller.value.accessToken == "T1")
    #expect(!module.tokenRequests.hasRequests)
  }

  @Test func `flush does not wait for a user who has not answered`() async throws {
    let fixture = try SessionFixture(browser: OAuthFixture.idle)
    let module = fixture.module
    let signIn = begin { try await module.signIn() }
    _ = try await fixture.fixture.isWaiting()
    try await module.flush()
    module.cancelSignIn()
    await failure(.cancelled) { try await signIn.value }
  }

  @Test func `flush saves a one-time refresh token although another request is under way`()
    async throws
  {
    let fixture = try await SessionFixture().restored()
    let (module, server) = (fixture.module, fixture.server)
    fixture.store.fails(toSave: true)
    fixture.clock.advance(by: 3600)
    #expect(try await module.token().accessToken == "T2")
    fixture.store.fails()
    server.signInGate.close()
    let exchange = begin {
      try await module.exchangeToken(
        TokenExchange(subject: .accessToken("A"), audiences: ["https://b.example"]))
    }
    try await server.signInGate.isHolding()
    let end = begin { try await module.flush() }
    try await eventually("the token is saved") { await fixture.store.content() == "T2 R2" }
    #expect(server.signInGate.waiting == 1)
    server.signInGate.open()
    try await end.value
    _ = await exchange.result
  }

  @Test func `flush offers a token that comes meanwhile to the store again`() async throws {
    let fixture = try SessionFixture()
    let store = ReluctantStore()
    fixture.oauth.environment.tokenStore = store
    let (module, server) = (fixture.module, fixture.server)
    server.signInGate.close()
    let signIn = begin { try await module.signIn() }
    try await server.signInGate.isHolding()
    let end = begin { try await module.flush() }
    server.signInGate.open()
    try await end.value
    #expect(await store.record?.token.accessToken == "T1")
    #expect(try await signIn.value.accessToken == "T1")
  }

  @Test func `a manager's flush waits for the modules that it does not keep`() async throws {
    let fixture = try SessionFixture()
    let manager = AccountManager(store: fixture.store, environment: fixture.oauth.environment)
    let module = manager.module(for: try #require(fixture.module.configuration), id: "a")
    fixture.server.signInGate.close()
    let caller = begin { try await module.requestAccessTokenAsClient() }
    try await fixture.server.signInGate.isHolding()
    #expect(manager.tokenRequests.hasRequests)
    let end = begin { try await manager.flush() }
    fixture.server.signInGate.open()
    try await end.value
    #expect(await fixture.store.content("a") == "T1 R1")
    _ = try await caller.value
  }

  /// Returns a manager whose store has T1 and R1 in the account `a`, and the account's client.
  private func manager(
    _ fixture: SessionFixture
  ) async throws -> (AccountManager, ClientConfiguration) {
    await fixture.store.memory.save(
      AccountRecord(id: "a", clientID: "client", token: fixture.server.issue(at: fixture.clock.now))
    )
    fixture.clock.advance(by: 3600)
    return (
      AccountManager(store: fixture.store, environment: fixture.oauth.environment),
      try #require(fixture.module.configuration)
    )
  }

  /// A web application may release an account after each request, even if its user has left.
  @Test func `a manager's flush waits for the refresh of a released account`() async throws {
    let fixture = try SessionFixture()
    let (manager, client) = try await manager(fixture)
    fixture.server.gate.close()
    let request = begin { try await manager.account(client, id: "a").token() }
    try await fixture.server.gate.isHolding()
    request.cancel()
    await failure(.cancelled) { try await request.value }
    manager.release(id: "a")
    let end = begin {
      try await manager.flush()
      return await fixture.store.content("a")
    }
    for _ in 0..<200 { await Task.yield() }
    fixture.server.gate.open()
    #expect(try await end.value == "T2 R2")
  }

  @Test func `a token that the store could not save outlives the release of its account`()
    async throws
  {
    let fixture = try SessionFixture()
    let (manager, client) = try await manager(fixture)
    fixture.store.fails(toSave: true)
    #expect(try await manager.account(client, id: "a").token().accessToken == "T2")
    manager.release(id: "a")
    await failure(.storeFailed) { try await manager.flush() }
    fixture.store.fails()
    await fixture.clock.hasSleeper()
    fixture.clock.advance(by: 60)
    try await eventually { await fixture.store.content("a") == "T2 R2" }
  }

  @Test func `a manager forgets the sessions of accounts that were released`() {
    var sessions = WeakSessions()
    let kept = SQOAuth().module
    _ = sessions.add(kept.session)
    for _ in 0..<1000 { _ = sessions.add(SQOAuth().module.session) }
    #expect(sessions.all.map(ObjectIdentifier.init) == [ObjectIdentifier(kept.session)])
    #expect(sessions.count < 100)
  }
}

/// A store that fails at the first save.
private actor ReluctantStore: TokenStore {
  private var hasFailed = false
  private(set) var record: AccountRecord?

  func load(_ id: String) -> AccountRecord? { record }

  func save(_ record: AccountRecord) throws {
    guard hasFailed else {
      hasFailed = true
      throw SQOAuthError(.storeFailed, "the store cannot save")
    }
    self.record = record
  }

  func erase(_ id: String) { record = nil }
  func list() -> [String] { [] }
}
