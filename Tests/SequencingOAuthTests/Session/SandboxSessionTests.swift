import Foundation
import OAuthSandbox
import TestSupport
import Testing

@testable import SequencingOAuth

/// Sessions over the real transport, at a server that rotates refresh tokens and finds reuse.
@Suite("End to end: a session", .timeLimit(.minutes(1))) struct SandboxSessionTests {
  /// A session that was signed in at a sandbox.
  func signedIn(
    _ options: SandboxOptions = SandboxOptions(), store: any TokenStore = MemoryTokenStore()
  ) async throws -> SandboxFixture {
    let bench = try await SandboxFixture(options).register { $0.timeout = .seconds(20) }
    bench.oauth.environment.tokenStore = store
    _ = try await bench.oauth.signIn()
    bench.sandbox.forgetRequests()
    return bench
  }

  func me(_ bench: SandboxFixture) -> HTTPRequest { HTTPRequest(url: bench.sandbox.url(.me)) }

  @Test(arguments: [true, false])
  func `at twenty expiries 64 callers each time, nothing is lost`(rotates: Bool) async throws {
    var options = SandboxOptions()
    options.rotatesRefreshTokens = rotates
    let store = MemoryTokenStore()
    let bench = try await signedIn(options, store: store)
    let oauth = bench.oauth
    oauth.module.refreshesAutomatically = false
    for round in 1...20 {
      bench.clock.advance(by: 3600)
      bench.sandbox.expireAccessTokens()
      let request = me(bench)
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
      #expect(statuses == [200] && bench.tokenRequests.count == round)
    }
    let token = try #require(oauth.result.token)
    #expect(bench.sandbox.isActive(token.accessToken))
    #expect(token.refreshToken == bench.sandbox.latestRefreshToken)
    #expect(await store.load("default")?.token == token)
    #expect(bench.sandbox.requests(to: .authorization).isEmpty)
  }

  @Test func `a token that the API does not know any more is refreshed once`() async throws {
    let bench = try await signedIn()
    bench.sandbox.expireAccessTokens()
    let response = try await bench.oauth.module.send(me(bench))
    #expect(response.status == 200)
    #expect(
      bench.endpoints == [.me, .metadata, .token, .me] || bench.endpoints == [.me, .token, .me])
    let sent = bench.sandbox.requests(to: .me).map { $0.header("authorization") }
    #expect(sent.last == "Bearer \(bench.oauth.result.token?.accessToken ?? "")")
    #expect(sent.first != sent.last)
  }

  @Test func `a token without the scope is not refreshed for it`() async throws {
    let bench = try await SandboxFixture().register(scope: "profile")
    _ = try await bench.oauth.signIn()
    bench.sandbox.forgetRequests()
    let request = HTTPRequest(url: bench.sandbox.url(.files))
    let error = await failure(.insufficientScope) { try await bench.oauth.module.send(request) }
    #expect(error?.status == 403 && error?.challenge?.scope == "demo")
    #expect(error?.challenge?.scheme == "Bearer" && bench.endpoints == [.files])
  }

  @Test func `everything revoked ends the session, once and for all`() async throws {
    let store = MemoryTokenStore()
    let bench = try await signedIn(store: store)
    let observer = RefreshRecorder()
    bench.oauth.tokenRefreshDelegate = observer
    bench.sandbox.revokeEverything()
    let error = await failure(.invalidGrant) { try await bench.oauth.module.send(me(bench)) }
    #expect(error?.requiresSignIn == true && bench.tokenRequests.count == 1)
    #expect(await observer.words(1) == ["ended refused invalid_grant"])
    try await eventually { await store.list().isEmpty && bench.clock.sleepers == 0 }
    bench.clock.advance(by: 86_400)
    await failure(.notAuthorized) { try await bench.oauth.module.send(me(bench)) }
    #expect(bench.tokenRequests.count == 1)
    #expect(try await bench.oauth.module.requestAccess() == bench.oauth.result.token)
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
  func `a failure over the wire keeps the session`(row: Row) async throws {
    let store = MemoryTokenStore()
    let bench = try await signedIn(store: store)
    bench.oauth.module.refreshesAutomatically = false
    let before = try #require(bench.oauth.result.token)
    bench.clock.advance(by: 3600)
    bench.sandbox.misbehave(at: .token, row.misbehaviour)
    let error = await failure { try await bench.oauth.token() }
    #expect(error.map { row.codes.contains($0.code) } ?? false, "\(error as Any)")
    #expect(bench.oauth.result.token == before)
    #expect(await store.load("default")?.token == before)
    #expect(bench.tokenRequests.count == 1, "it is not sent a second time")
    bench.clock.advance(by: 30)
    #expect(try await bench.oauth.token().refreshToken == bench.sandbox.latestRefreshToken)
  }

  @Test func `a server that is gone for a while`() async throws {
    let bench = try await signedIn()
    bench.oauth.module.refreshesAutomatically = false
    await bench.sandbox.stop()
    bench.clock.advance(by: 3600)
    let error = await failure(.connectionFailed) { try await bench.oauth.token() }
    #expect(error?.requiresSignIn == false && bench.oauth.result.token != nil)
  }

  /// A program that starts again knows the issuer, and nothing of its endpoints.
  @Test func `after a restart the endpoints are found once, for any number of callers`()
    async throws
  {
    let store = MemoryTokenStore()
    let bench = try await signedIn(store: store)
    let oauth = SQOAuth()
    oauth.environment.clock = bench.clock
    oauth.environment.tokenStore = store
    oauth.register(try bench.oauth.module.context.configuration.get())
    bench.oauth.module.refreshesAutomatically = false
    bench.clock.advance(by: 3600)
    for misbehaviour in [
      SandboxMisbehaviour.status(500), .html, .member("issuer", "http://127.0.0.1"),
    ] {
      bench.sandbox.misbehave(at: .metadata, misbehaviour, times: nil)
      let error = await failure { try await oauth.token() }
      #expect(error?.requiresSignIn == false && oauth.result.token != nil)
      let requests = bench.endpoints.count
      await failure(error?.code) { try await oauth.token() }
      #expect(bench.endpoints.count == requests, "the failure is for everyone who asks soon")
      bench.sandbox.behave(at: .metadata)
      bench.clock.advance(by: 60)
    }
    #expect(bench.endpoints.allSatisfy { $0 == .metadata })
    let before = bench.endpoints.count
    let tokens = try await withThrowingTaskGroup(of: SQToken.self) { group in
      for _ in 0..<50 { group.addTask { try await oauth.token() } }
      return try await group.reduce(into: Set()) { $0.insert($1) }
    }
    #expect(tokens.count == 1 && bench.endpoints.dropFirst(before) == [.metadata, .token])
    bench.clock.advance(by: 3600)
    _ = try await oauth.token()
    #expect(bench.endpoints.dropFirst(before) == [.metadata, .token, .token])
  }

  /// Two modules on one file are what two processes are.
  @Test func `two that share a file are one session`() async throws {
    let folder = try TemporaryFolder()
    let bench = try await signedIn(store: FileTokenStore(path: folder.path + "/tokens.json"))
    bench.oauth.module.refreshesAutomatically = false
    let second = SQOAuth()
    second.environment.clock = bench.clock
    second.environment.tokenStore = FileTokenStore(path: folder.path + "/tokens.json")
    second.register(try bench.oauth.module.context.configuration.get())
    for round in 1...10 {
      bench.clock.advance(by: 3600)
      bench.sandbox.expireAccessTokens()
      let (first, other) = round % 2 == 0 ? (bench.oauth, second) : (second, bench.oauth)
      let token = try await first.token()
      #expect(try await other.token() == token)
      #expect(bench.tokenRequests.count == round)
      #expect(try await other.module.send(me(bench)).status == 200)
    }
    #expect(bench.oauth.result.token?.refreshToken == bench.sandbox.latestRefreshToken)
    try await second.signOut()
    bench.clock.advance(by: 3600)
    await failure(.notAuthorized) { try await bench.oauth.token() }
    #expect(bench.oauth.result.token == nil && bench.tokenRequests.count == 10)
  }
}
