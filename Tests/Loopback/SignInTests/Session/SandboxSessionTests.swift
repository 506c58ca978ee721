import Foundation
import OAuthSandbox
import Testing

@testable import LoopbackSupport
@testable import SQBasics
@testable import SequencingOAuth
@testable import TestSupport

/// Sessions over real sockets, at a server that rotates refresh tokens and detects reuse.
@Suite("End to end: a session", .timeLimit(.minutes(1))) struct SandboxSessionTests {
  /// Creates a session that is signed in at a sandbox.
  func signedIn(
    _ options: SandboxOptions = SandboxOptions(), store: any TokenStore = MemoryTokenStore()
  ) async throws -> SandboxFixture {
    let fixture = try await SandboxFixture(options).register { $0.timeout = .seconds(20) }
    fixture.oauth.environment.tokenStore = store
    _ = try await fixture.oauth.signIn()
    fixture.sandbox.forgetRequests()
    return fixture
  }

  func me(_ fixture: SandboxFixture) -> WebRequest { WebRequest(url: fixture.sandbox.url(.me)) }

  @Test(arguments: [true, false])
  func `64 callers at each of 20 expiries cause one refresh per expiry`(rotates: Bool) async throws
  {
    var options = SandboxOptions()
    options.rotatesRefreshTokens = rotates
    let store = MemoryTokenStore()
    let fixture = try await signedIn(options, store: store)
    let oauth = fixture.oauth
    oauth.module.refreshesAutomatically = false
    for round in 1...20 {
      fixture.clock.advance(by: 3600)
      fixture.sandbox.expireAccessTokens()
      let request = me(fixture)
      let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
        for index in 0..<64 {
          group.addTask {
            if index % 2 == 0 { return try await oauth.module.send(request).status }
            _ = try await oauth.token()
            return 200
          }
        }
        return try await group.reduce(into: Set()) { $0.insert($1) }
      }
      #expect(statuses == [200] && fixture.tokenRequests.count == round)
    }
    let token = try #require(oauth.result.token)
    #expect(fixture.sandbox.isActive(token.accessToken))
    #expect(token.refreshToken == fixture.sandbox.latestRefreshToken)
    #expect(await store.load("default")?.token == token)
    #expect(fixture.sandbox.requests(to: .authorization).isEmpty)
  }

  @Test func `a token that the API no longer accepts is refreshed once`() async throws {
    let fixture = try await signedIn()
    fixture.sandbox.expireAccessTokens()
    let response = try await fixture.oauth.module.send(me(fixture))
    #expect(response.status == 200)
    #expect(
      fixture.endpoints == [.me, .metadata, .token, .me] || fixture.endpoints == [.me, .token, .me])
    let sent = fixture.sandbox.requests(to: .me).map { $0.header("authorization") }
    #expect(sent.last == "Bearer \(fixture.oauth.result.token?.accessToken ?? "")")
    #expect(sent.first != sent.last)
  }

  @Test func `a missing scope causes no refresh`() async throws {
    let fixture = try await SandboxFixture().register(scope: "profile")
    _ = try await fixture.oauth.signIn()
    fixture.sandbox.forgetRequests()
    let request = WebRequest(url: fixture.sandbox.url(.files))
    let error = await failure(.insufficientScope) { try await fixture.oauth.module.send(request) }
    #expect(error?.status == 403 && error?.challenge?.scope == "demo")
    #expect(error?.challenge?.scheme == "Bearer" && fixture.endpoints == [.files])
  }

  @Test func `revoking all tokens at the server ends the session for good`() async throws {
    let store = MemoryTokenStore()
    let fixture = try await signedIn(store: store)
    let observer = RefreshRecorder()
    fixture.oauth.tokenRefreshDelegate = observer
    fixture.sandbox.revokeEverything()
    let error = await failure(.invalidGrant) { try await fixture.oauth.module.send(me(fixture)) }
    #expect(error?.requiresSignIn == true && fixture.tokenRequests.count == 1)
    #expect(await observer.words(1) == ["ended refused invalid_grant"])
    try await eventually { await store.list().isEmpty && fixture.clock.sleepers == 0 }
    fixture.clock.advance(by: 86_400)
    await failure(.notAuthorized) { try await fixture.oauth.module.send(me(fixture)) }
    #expect(fixture.tokenRequests.count == 1)
    #expect(try await fixture.oauth.module.requestAccess() == fixture.oauth.result.token)
  }

  struct Row: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let misbehaviour: SandboxMisbehaviour
    let codes: Set<SQOAuthError.Code>
  }

  @Test(arguments: [
    Row(testDescription: "500", misbehaviour: .status(500), codes: [.serverError]),
    Row(
      testDescription: "429", misbehaviour: .tooManyRequests(retryAfter: 30),
      codes: [.temporarilyUnavailable]),
    Row(testDescription: "HTML", misbehaviour: .html, codes: [.invalidResponse]),
    Row(testDescription: "no JSON", misbehaviour: .notJSON, codes: [.invalidResponse]),
    Row(
      testDescription: "a redirect", misbehaviour: .redirect(307, to: "/token"),
      codes: [.redirectRefused]),
    Row(
      testDescription: "invalid_client", misbehaviour: .error("invalid_client", status: 401),
      codes: [.invalidClient]),
    Row(
      testDescription: "a cut connection", misbehaviour: .cut(.beforeProcessing),
      codes: [.connectionFailed, .invalidResponse]),
    Row(
      testDescription: "a reset", misbehaviour: .cut(.beforeProcessing, reset: true),
      codes: [.connectionFailed]),
  ])
  func `the session is kept if a refresh fails for a reason other than the refresh token`(row: Row)
    async throws
  {
    let store = MemoryTokenStore()
    let fixture = try await signedIn(store: store)
    fixture.oauth.module.refreshesAutomatically = false
    let before = try #require(fixture.oauth.result.token)
    fixture.clock.advance(by: 3600)
    fixture.sandbox.misbehave(at: .token, row.misbehaviour)
    let error = await failure { try await fixture.oauth.token() }
    #expect(error.map { row.codes.contains($0.code) } ?? false, "\(error as Any)")
    #expect(fixture.oauth.result.token == before)
    #expect(await store.load("default")?.token == before)
    #expect(fixture.tokenRequests.count == 1, "the refresh is sent only once")
    fixture.clock.advance(by: 30)
    #expect(try await fixture.oauth.token().refreshToken == fixture.sandbox.latestRefreshToken)
  }

  @Test func `the session is kept if the server is unreachable`() async throws {
    // No other server can get the reserved port after the sandbox has stopped.
    let socket = try BoundSocket()
    var options = SandboxOptions()
    options.port = socket.port
    let fixture = try await signedIn(options)
    fixture.oauth.module.refreshesAutomatically = false
    await fixture.sandbox.stop()
    fixture.clock.advance(by: 3600)
    let error = await failure(.connectionFailed) { try await fixture.oauth.token() }
    #expect(error?.requiresSignIn == false && fixture.oauth.result.token != nil)
    withExtendedLifetime(socket) {}
  }

  /// After a restart, a program knows the issuer but not its endpoints.
  @Test
  func `after a restart, many callers share one discovery, and its failure keeps the session`()
    async throws
  {
    let store = MemoryTokenStore()
    let fixture = try await signedIn(store: store)
    let oauth = SQOAuth()
    oauth.environment.clock = fixture.clock
    oauth.environment.tokenStore = store
    oauth.register(try fixture.oauth.module.context.configuration.get())
    // The timer would retry as soon as the clock advances.
    oauth.refreshesAutomatically = false
    fixture.oauth.module.refreshesAutomatically = false
    fixture.clock.advance(by: 3600)
    // These faults are no outage. In an outage, the SDK would use the token endpoint in the
    // account's record.
    for misbehaviour in [SandboxMisbehaviour.html, .member("issuer", "http://127.0.0.1")] {
      fixture.sandbox.misbehave(at: .metadata, misbehaviour, times: nil)
      let error = await failure { try await oauth.token() }
      #expect(error?.requiresSignIn == false && oauth.result.token != nil)
      let requests = fixture.endpoints.count
      await failure(error?.code) { try await oauth.token() }
      #expect(fixture.endpoints.count == requests, "the failure is not tried again at once")
      fixture.sandbox.behave(at: .metadata)
      fixture.clock.advance(by: 60)
    }
    #expect(fixture.endpoints.allSatisfy { $0 == .metadata })
    let before = fixture.endpoints.count
    let tokens = try await withThrowingTaskGroup(of: SQToken.self) { group in
      for _ in 0..<50 { group.addTask { try await oauth.token() } }
      return try await group.reduce(into: Set()) { $0.insert($1) }
    }
    #expect(tokens.count == 1 && fixture.endpoints.dropFirst(before) == [.metadata, .token])
    fixture.clock.advance(by: 3600)
    _ = try await oauth.token()
    // At the second refresh, the metadata is an hour old.
    #expect(fixture.endpoints.dropFirst(before) == [.metadata, .token, .metadata, .token])
  }

  /// Two modules with one file behave like two processes.
  @Test func `two clients that share a token file share one session`() async throws {
    let folder = try TemporaryFolder()
    let fixture = try await signedIn(store: FileTokenStore(path: folder.path + "/tokens.json"))
    fixture.oauth.module.refreshesAutomatically = false
    let second = SQOAuth()
    second.environment.clock = fixture.clock
    second.environment.tokenStore = FileTokenStore(path: folder.path + "/tokens.json")
    second.register(try fixture.oauth.module.context.configuration.get())
    for round in 1...10 {
      fixture.clock.advance(by: 3600)
      fixture.sandbox.expireAccessTokens()
      let (first, other) = round % 2 == 0 ? (fixture.oauth, second) : (second, fixture.oauth)
      let token = try await first.token()
      #expect(try await other.token() == token)
      #expect(fixture.tokenRequests.count == round)
      #expect(try await other.module.send(me(fixture)).status == 200)
    }
    #expect(fixture.oauth.result.token?.refreshToken == fixture.sandbox.latestRefreshToken)
    try await second.signOut()
    fixture.clock.advance(by: 3600)
    await failure(.notAuthorized) { try await fixture.oauth.token() }
    #expect(fixture.oauth.result.token == nil && fixture.tokenRequests.count == 10)
  }
}
