import Foundation
import SQBasics
import SequencingOAuthPipes
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// An account's token after the app has registered another provider for the account.
@Suite("The token of another server", .timeLimit(.minutes(1))) struct ForeignTokenTests {
  private let another = AnotherServerTests()

  /// A way to get the account's token, or to send it to the registered server.
  enum Way: CaseIterable, Sendable {
    case token, requestAccess, refresh, narrowedToken, send, authenticate, pipe

    func run(_ world: SessionFixture) async throws {
      let module = world.module
      let server = try #require(module.configuration?.provider.issuer)
      switch self {
      case .token: _ = try await module.token()
      case .requestAccess: _ = try await module.requestAccess()
      case .refresh: _ = try await module.refresh()
      case .narrowedToken: _ = try await module.narrowedToken(scope: "demo")
      case .send: _ = try await module.send(.get("\(server)/me"))
      case .authenticate: _ = try await module.authenticate(.get("\(server)/me"))
      case .pipe:
        let pipe = try Pipeline(server, module: module).add("me")
        do throws(PipeError) {
          _ = try await pipe.read()
        } catch .noAccess(let error) {
          throw error
        }
      }
    }
  }

  @Test(arguments: Way.allCases, [true, false])
  func `no call uses the token of the earlier server, in memory or in the store`(
    way: Way, isInMemory: Bool
  ) async throws {
    let world = try await another.world(isInMemory: isInMemory)
    world.api { _ in WebResponse(status: 200, body: Data("{}".utf8)) }
    try another.register(AnotherServerTests.second, in: world)
    let error = await failure(.invalidConfiguration) { try await way.run(world) }
    #expect(error?.message.contains("sign in again") == true)
    #expect(world.requests.isEmpty && world.fixture.opened.isEmpty)
    #expect(world.module.validToken == nil && world.module.authorizationFields == nil)
    #expect(world.memory == (isInMemory ? "T1 R1" : nil))
  }

  @Test(arguments: Way.allCases)
  func `the token is back when the app registers its client again`(way: Way) async throws {
    let world = try await another.world()
    world.api { _ in WebResponse(status: 200, body: Data("{}".utf8)) }
    try another.register(AnotherServerTests.second, in: world)
    await failure(.invalidConfiguration) { try await way.run(world) }
    try another.register(AnotherServerTests.first, in: world)
    #expect(world.module.validToken?.accessToken == "T1")
    try await way.run(world)
    #expect(world.fixture.opened.isEmpty)
    #expect(world.fixture.http.requests.allSatisfy { $0.url.host() == "id.example" })
  }

  @Test func `a sign-in at the new server replaces the token`() async throws {
    let world = try await another.world()
    try another.register(AnotherServerTests.second, in: world)
    try await world.oauth.signIn()
    #expect(try await world.module.token().accessToken == "T2")
    _ = try await world.module.send(.get("\(AnotherServerTests.second)/me"))
    #expect(world.requests.last == "GET /me T2")
  }

  @Test(arguments: [Way.token, .send, .pipe])
  func `a refresh that ends after the registration gives no call its token`(way: Way) async throws {
    let world = try await another.world()
    world.clock.advance(by: 3600)
    world.server.gate.close()
    let refresh = begin { try await world.module.refresh() }
    try await world.server.gate.isHolding()
    try another.register(AnotherServerTests.second, in: world)
    let call = begin { try await way.run(world) }
    world.server.gate.open()
    await failure(.invalidConfiguration) { try await call.value }
    _ = await refresh.result
    #expect(world.requests == ["refresh R1"] && world.memory == "T2 R2")
  }

  /// The new client's servers are known a moment before the session compares the token.
  @Test func `a request in the middle of a registration sends no token to the new server`()
    async throws
  {
    let world = try await another.world()
    let (module, owner) = (world.module, world.module.session.owner)
    module.context.configuration = .success(
      try AnotherServerTests.client(at: AnotherServerTests.second))
    #expect(module.validToken?.accessToken == "T1")
    let server = try ResourceOrigin(AnotherServerTests.second)
    failure(.invalidConfiguration) { try module.addressedToken(at: server, of: owner) }
  }

  @Test func `another process's sign-in at the new server is taken over from the store`()
    async throws
  {
    let world = try await another.world()
    try another.register(AnotherServerTests.second, in: world)
    world.clock.advance(by: 1)
    await world.store.memory.save(
      AccountRecord(
        id: "default", clientID: "client", issuer: AnotherServerTests.second,
        token: world.server.issue(at: world.clock.now)))
    #expect(try await world.module.token().accessToken == "T2")
  }

  @Test func `the timer finds out that the token cannot be renewed, and pauses`() {
    var state = SessionStateTests.holding()
    state.register(AccountRecord.Origin(clientID: "other", issuer: nil, tokenEndpoint: nil))
    let now = SessionStateTests.now
    #expect(SessionStateTests.word(state.step(.valid, at: now)) == "lapsed")
    #expect(SessionStateTests.word(state.step(.due, at: now)) == "use T1")
    #expect(SessionStateTests.word(state.step(.due, at: now + 3300)) == "start")
  }
}
