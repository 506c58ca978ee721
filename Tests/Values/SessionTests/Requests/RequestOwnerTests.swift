import Foundation
import SQBasics
import SequencingOAuthPipes
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// Requests under way while a user signs in, in the same process.
@Suite(.timeLimit(.minutes(1))) struct RequestOwnerTests {
  /// The ways in which an app sends a request, or gets the fields for one.
  enum Way: CaseIterable {
    case send, authenticate, authorization, pipe

    func run(in fixture: SessionFixture) async throws {
      let request = try WebRequest.get("https://api.example/x")
      switch self {
      case .send: _ = try await fixture.module.send(request)
      case .authenticate: _ = try await fixture.module.authenticate(request)
      case .authorization:
        _ = try await fixture.module.authorization(for: request.url, method: "GET")
      case .pipe:
        let pipe = try Pipeline("https://api.example", module: fixture.module).add("x")
        do throws(PipeError) {
          _ = try await pipe.read()
        } catch .noAccess(let error) {
          throw error
        }
      }
    }
  }

  /// Returns a token of a user whom an ID token names.
  private static func token(
    _ name: String, of user: String, at date: Date
  ) throws -> SQToken {
    let idToken = try IDToken(
      unverified: [
        "iss": "https://id.example", "sub": .string(user), "aud": .array(["client"]),
        "iat": .integer(0), "exp": .integer(1),
      ], compactForm: "\(name) of \(user)")
    return SQToken(
      accessToken: name, expirationDate: date + 3600, tokenType: "Bearer", refreshToken: "R1",
      issueDate: date
    ).identifying(idToken, nonce: nil)
  }

  /// Returns a session with the token T1, whose user is unknown, and an API that accepts any token.
  private func restored() async throws -> SessionFixture {
    let fixture = try await SessionFixture().restored()
    fixture.api { _ in WebResponse(status: 200, body: Data("{}".utf8)) }
    return fixture
  }

  /// Returns a session with Alice's token A1, and an API that accepts any token.
  private func signedIn() async throws -> SessionFixture {
    let fixture = try SessionFixture()
    // A refresh of a user's token needs the keys for the new ID token.
    try fixture.fixture.register(
      provider: .endpoints(
        authorization: "https://id.example/authorize", token: "https://id.example/token",
        jwks: "https://id.example/keys", issuer: "https://id.example"))
    await fixture.store.memory.save(
      fixture.record(try Self.token("A1", of: "alice", at: fixture.clock.now)))
    try await fixture.module.restore()
    fixture.api { _ in WebResponse(status: 200, body: Data("{}".utf8)) }
    return fixture
  }

  /// Signs a user in whom an ID token names.
  private func signIn(_ user: String, _ name: String, in fixture: SessionFixture) async throws {
    let session = fixture.module.session
    let record = AccountRecord(
      signedIn: "default", clientID: "client", issuer: nil, tokenEndpoint: nil,
      token: try Self.token(name, of: user, at: fixture.clock.now), attributes: [:])
    try await session.takeOver(record, since: session.appEndCount)
  }

  /// Begins a request whose token has expired, and returns it when the refresh has been sent.
  private func waiting(
    _ fixture: SessionFixture, _ way: Way = .send
  ) async throws -> Task<Void, any Error> {
    fixture.clock.advance(by: 3600)
    fixture.server.gate.close()
    let request = begin { try await way.run(in: fixture) }
    try await fixture.server.gate.isHolding()
    return request
  }

  @Test(arguments: Way.allCases)
  func `a request that waits for a refresh does not carry the token of a later sign-in`(
    way: Way
  ) async throws {
    let fixture = try await restored()
    let request = try await waiting(fixture, way)
    #expect(try await fixture.oauth.signIn().accessToken == "T2")
    let error = await failure(.sessionReplaced) { try await request.value }
    #expect(error?.requiresSignIn == false)
    #expect(fixture.apiRequests.isEmpty)
    fixture.server.gate.open()
    try await way.run(in: fixture)
    #expect(fixture.requests.allSatisfy { !$0.hasSuffix("T1") }, "the next one is the new user's")
  }

  @Test(arguments: Way.allCases)
  func `a request that waits for a refresh is sent if the same user signs in`(way: Way) async throws
  {
    let fixture = try await signedIn()
    let request = try await waiting(fixture, way)
    try await signIn("alice", "A2", in: fixture)
    try await request.value
    fixture.server.gate.open()
    #expect(fixture.apiRequests.allSatisfy { $0.headers["Authorization"] == "Bearer A2" })
  }

  @Test(arguments: Way.allCases)
  func `a request that waits for a refresh fails if its user signs in after another one`(
    way: Way
  ) async throws {
    let fixture = try await signedIn()
    let owner = fixture.module.session.owner
    let request = try await waiting(fixture, way)
    try await signIn("bob", "B1", in: fixture)
    await failure(.sessionReplaced) { try await request.value }
    fixture.server.gate.open()
    #expect(fixture.apiRequests.isEmpty && !owner.permits(fixture.module.session.owner))
    try await signIn("alice", "A2", in: fixture)
    #expect(owner.permits(fixture.module.session.owner), "Alice's later tokens are hers")
  }

  /// Without an ID token, the options say who signed in.
  @Test func `a sign-in that demands the same user lets waiting requests continue`() async throws {
    let fixture = try await restored()
    let request = try await waiting(fixture)
    var options = SignInOptions()
    options.requiresSameUser = true
    #expect(try await fixture.oauth.signIn(with: options).accessToken == "T2")
    try await request.value
    fixture.server.gate.open()
    #expect(fixture.requests.last == "GET /x T2")
  }

  /// To change the user, an app signs out before it passes in a token.
  @Test func `a token that the app passes in lets waiting requests continue`() async throws {
    let fixture = try await restored()
    let request = try await waiting(fixture)
    let module = fixture.module
    let newer = SQToken(
      accessToken: "T9", expirationDate: fixture.clock.now + 3600, refreshToken: "R9",
      issueDate: fixture.clock.now)
    let adoption = begin { try await module.adopt(newer) }
    try await request.value
    #expect(fixture.apiRequests.map { $0.headers["Authorization"] } == ["Bearer T9"])
    fixture.server.gate.open()
    _ = try await adoption.value
  }

  @Test func `a repeated client credentials grant lets waiting requests continue`() async throws {
    let fixture = try SessionFixture()
    try await fixture.module.requestAccessTokenAsClient()
    let request = try await waiting(fixture)
    #expect(try await fixture.module.requestAccessTokenAsClient().accessToken == "T2")
    try await request.value
    fixture.server.gate.open()
    #expect(fixture.requests.last == "GET /x T2")
  }

  @Test func `a repeated grant with an app's assertion lets no waiting request continue`()
    async throws
  {
    let fixture = try SessionFixture(change: {
      $0.grantAssertionSource = AssertionSource { audience in
        try await MadeKeys.key(for: .es256).sign(["aud": .string(audience)])
      }
    })
    fixture.api { _ in WebResponse(status: 200) }
    try await fixture.module.requestAccessTokenByAssertion()
    fixture.clock.advance(by: 3600)
    let renewal = Gate(isOpen: false)
    fixture.server.next({ _ in
      await renewal.pass()
      return WebResponse(status: 503)
    })
    let request = begin { try await Way.send.run(in: fixture) }
    try await renewal.isHolding()
    #expect(try await fixture.module.requestAccessTokenByAssertion().accessToken == "T2")
    await failure(.sessionReplaced) { try await request.value }
    renewal.open()
    #expect(fixture.apiRequests.isEmpty)
  }

  @Test func `a request goes on after its own sign-in even if the token is refreshed at once`()
    async throws
  {
    let fixture = try await restored()
    fixture.clock.advance(by: 3600)
    fixture.server.next(SessionEndTests.invalidGrant)
    fixture.server.signInGate.close()
    // The request learns of the sign-in's end only after another caller's refresh.
    let executor = HoldingExecutor()
    let (module, origin) = (fixture.module, try ResourceOrigin("https://api.example"))
    try module.allowTokens(at: "https://api.example")
    let owner = module.session.owner
    let request = Task(executorPreference: executor) {
      try await module.addressedAccess(for: origin, of: owner)
    }
    try await fixture.server.signInGate.isHolding()
    try await executor.rests()
    executor.hold()
    fixture.server.signInGate.open()
    try await eventually { fixture.memory == "T2 R2" }
    #expect(try await module.refresh().accessToken == "T3")
    executor.letGo()
    #expect(try await request.value.token.accessToken == "T3")
    #expect(fixture.fixture.opened.count == 1)
  }

  @Test func `a token from before another sign-in is sent only for the user whom it names`()
    async throws
  {
    let fixture = try await signedIn()
    let (module, session) = (fixture.module, fixture.module.session)
    let alice = session.owner
    try await signIn("alice", "A2", in: fixture)
    let token = try #require(session.token)
    try await signIn("bob", "B1", in: fixture)
    let origin = try ResourceOrigin("https://api.example")
    let bob = session.owner
    failure(.sessionReplaced) { try module.addressedToken(token, at: origin, of: bob) }
    // The last user has no ID token, so only the counts tell that the request is not this user's.
    try await fixture.oauth.signIn()
    let use = try module.addressedToken(token, at: origin, of: alice)
    #expect(use.token == token && use.owner?.permits(session.owner) == false)
  }

  @Test(arguments: ["alice", "bob"])
  func `a refused request is sent again with the token of a later sign-in only for the same user`(
    user: String
  ) async throws {
    let fixture = try await signedIn()
    let slow = Gate(isOpen: false)
    fixture.api { request in
      guard request.headers["Authorization"] == "Bearer A1" else { return WebResponse(status: 200) }
      await slow.pass()
      return TokenServer.challenge(SendTests.invalid)
    }
    let request = begin { try await Way.send.run(in: fixture) }
    try await slow.isHolding()
    try await signIn(user, "N", in: fixture)
    slow.open()
    if user == "alice" {
      try await request.value
      #expect(fixture.requests == ["GET /x A1", "GET /x N"])
    } else {
      await failure(.invalidToken) { try await request.value }
      #expect(fixture.requests == ["GET /x A1"])
    }
  }

  @Test(arguments: [true, false])
  func `after the server has ended the session, a sign-in for a request is that of its user`(
    isForRequest: Bool
  ) throws {
    let now = Date(timeIntervalSince1970: 1_000_000)
    func record(_ name: String) -> AccountRecord {
      AccountRecord(
        signedIn: "default", clientID: "client", issuer: nil, tokenEndpoint: nil,
        token: SQToken(accessToken: name, expirationDate: now + 3600), attributes: [:])
    }
    var state = SessionState()
    state.hold(record("T1"), at: now)
    let owner = state.owner
    _ = state.end(.signedOut, isByApp: false)
    state.take(
      record("T2"), ofSameUserAs: isForRequest ? state.owner.continuing(owner.series) : nil,
      at: now)
    #expect(owner.permits(state.owner) == isForRequest)
    state.take(record("T3"), ofSameUserAs: nil, at: now)
    #expect(!owner.permits(state.owner))
  }

  @Test func `after a sign-out, earlier requests carry no token, not even one of the same user`()
    async throws
  {
    let fixture = try await signedIn()
    let session = fixture.module.session
    let owner = session.owner
    try await fixture.oauth.signOut()
    try await signIn("alice", "A2", in: fixture)
    #expect(!owner.permits(session.owner) && owner.following(session.owner) == owner)
  }

  @Test(arguments: Way.allCases)
  func `a request that waits for a refresh obeys the servers of a client registered meanwhile`(
    way: Way
  ) async throws {
    let fixture = try await restored()
    // The app names the server by its first request.
    try await way.run(in: fixture)
    let count = fixture.apiRequests.count
    let request = try await waiting(fixture, way)
    var client = try AnotherClientTests.client()
    client.resourceOrigins = [try ResourceOrigin("https://other.example")]
    fixture.module.register(client)
    fixture.server.gate.open()
    await failure(.originNotAllowed) { try await request.value }
    #expect(fixture.memory == "T2 R2" && fixture.apiRequests.count == count)
  }
}
