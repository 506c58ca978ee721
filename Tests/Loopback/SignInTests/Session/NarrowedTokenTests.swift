import Foundation
import OAuthSandbox
import SQBasics
import Testing

@testable import LoopbackSupport
@testable import SequencingOAuth
@testable import TestSupport

/// Tokens with fewer rights than the account's, at a server that rotates refresh tokens and detects
/// their reuse.
///
/// - SeeAlso: RFC 8707, section 2.2; RFC 6749, section 6
@Suite("End to end: a narrowed token", .timeLimit(.minutes(1))) struct NarrowedTokenTests {
  private static let one = "https://one.example.com/api"
  private static let two = "https://two.example.com/api"

  private let store = MemoryTokenStore()

  /// Signs in for two resources, without a timer.
  private func signedIn(
    scope: String = "files demo", change: (inout ClientConfiguration) -> Void = { _ in }
  ) async throws -> SandboxFixture {
    var options = SandboxOptions()
    options.accessTokenFormat = .jwt(.es256)
    options.audiences = [Self.one, Self.two]
    let fixture = try await SandboxFixture(options, sharesClock: true).register(scope: scope) {
      $0.resources = [Self.one, Self.two]
      change(&$0)
    }
    fixture.oauth.environment.tokenStore = store
    fixture.oauth.refreshesAutomatically = false
    try await fixture.oauth.signIn()
    fixture.sandbox.forgetRequests()
    return fixture
  }

  private func claims(_ token: SQToken) throws -> [String: JSONValue] {
    try CompactJWS(token.accessToken).claims()
  }

  private func resources(_ request: SandboxRequest?) -> [String] {
    request?.form.filter { $0.name == "resource" }.map(\.value) ?? []
  }

  // MARK: Getting a narrowed token

  @Test func `a narrowed token is for one resource, and the account keeps its access token`()
    async throws
  {
    let fixture = try await signedIn()
    let before = try #require(fixture.oauth.currentToken)
    let narrowed = try await fixture.oauth.narrowedToken(for: [Self.two])
    #expect(resources(fixture.tokenRequests.last) == [Self.two])
    #expect(fixture.tokenRequests.last?.form("scope") == nil)
    #expect(try claims(narrowed.token)["aud"] == .string(Self.two))
    #expect(narrowed.type == .accessToken && narrowed.token.scope == before.scope)
    #expect(narrowed.token.refreshToken == nil && narrowed.token.idToken == nil)
    #expect(narrowed.authorizationFields == ["Authorization": "Bearer \(narrowed.text)"])
    let after = try #require(fixture.oauth.currentToken)
    #expect(after.accessToken == before.accessToken && after.refreshToken != before.refreshToken)
    #expect(await store.load("default")?.token == after)
    #expect(fixture.sandbox.isActive(try #require(after.refreshToken)))
  }

  /// A server that goes by `audience` would issue a token for more than the named resource.
  @Test(arguments: [("https://all.example.com", nil), (one, one)])
  func `a request for a narrowed token names no other audience`(audience: String, sent: String?)
    async throws
  {
    let parameters = ["audience": audience]
    let fixture = try await SandboxFixture()
    let issuer = fixture.sandbox.issuer.absoluteString
    fixture.oauth.register(
      try ClientConfiguration(
        clientID: "sandbox-app", redirectURI: "http://127.0.0.1/callback", scope: "files demo",
        provider: .issuer(issuer), tokenParameters: parameters))
    try await fixture.oauth.signIn()
    _ = try? await fixture.oauth.narrowedToken(for: [Self.one])
    #expect(fixture.tokenRequests.map { $0.form("audience") } == [audience, sent])
    try await fixture.oauth.refresh()
    #expect(fixture.tokenRequests.last?.form("audience") == audience)
  }

  @Test func `a narrowed token can have a part of the account's scope`() async throws {
    let fixture = try await signedIn()
    let narrowed = try await fixture.oauth.narrowedToken(scope: "demo")
    #expect(narrowed.token.scopes == ["demo"])
    #expect(resources(fixture.tokenRequests.last) == [Self.one, Self.two])
    // The account keeps its whole scope, and so its next token has the whole scope.
    #expect(Set(try await fixture.oauth.refresh().scopes) == ["files", "demo"])
  }

  /// A required scope must be in the account's own token, not in a narrowed one.
  @Test func `a narrowed token may lack a scope that the app requires of the account`() async throws
  {
    let fixture = try await signedIn { $0.requiredScopes = ["files"] }
    #expect(try await fixture.oauth.narrowedToken(scope: "demo").token.scopes == ["demo"])
  }

  @Test func `a client without a user gets a narrowed token by client credentials`() async throws {
    var options = SandboxOptions()
    options.accessTokenFormat = .jwt(.es256)
    options.audiences = [Self.one, Self.two]
    let fixture = try await SandboxFixture(options).register(
      clientID: "sandbox-service", secret: "sandbox-secret", scope: "files demo"
    ) {
      $0.resources = [Self.one, Self.two]
      $0.usesClientCredentials = true
    }
    fixture.oauth.environment.tokenStore = store
    fixture.oauth.refreshesAutomatically = false
    let narrowed = try await fixture.oauth.narrowedToken(for: [Self.one], scope: "demo")
    #expect(try claims(narrowed.token)["aud"] == .string(Self.one))
    #expect(narrowed.token.scopes == ["demo"])
    let grants = fixture.tokenRequests.map { $0.form("grant_type") }
    #expect(grants == ["client_credentials", "client_credentials"])
    #expect(fixture.oauth.currentToken.map { Set($0.scopes) } == ["files", "demo"])
    #expect(await store.load("default")?.token == fixture.oauth.currentToken)
  }

  @Test func `the narrowed token of an account with DPoP is bound to the account's key`()
    async throws
  {
    let bound = try await BoundFixture(.public).signedIn()
    let narrowed = try await bound.oauth.narrowedToken(scope: "demo")
    #expect(narrowed.token.isBound && narrowed.authorizationFields == nil)
    let answer = try await bound.oauth.send(
      WebRequest(url: bound.sandbox.url(.me)), with: narrowed)
    #expect(answer.status == 200)
    #expect(Set(bound.sandbox.requests.compactMap { $0.proof?.keyThumbprint }).count == 1)
    try bound.audit()
  }

  // MARK: Keeping a narrowed token

  @Test func `a narrowed token is returned again while it is valid`() async throws {
    let fixture = try await signedIn()
    let first = try await fixture.oauth.narrowedToken(for: [Self.one])
    #expect(try await fixture.oauth.narrowedToken(for: [Self.one]) == first)
    #expect(fixture.tokenRequests.count == 1)
    let other = try await fixture.oauth.narrowedToken(for: [Self.one], scope: "demo")
    #expect(other != first && fixture.tokenRequests.count == 2)
    fixture.clock.advance(by: 3600)
    #expect(try await fixture.oauth.narrowedToken(for: [Self.one]) != first)
    #expect(fixture.tokenRequests.count == 3)
  }

  @Test func `a narrowed token that the API refuses is replaced at the next call`() async throws {
    let fixture = try await signedIn()
    let url = fixture.sandbox.url(.me)
    let first = try await fixture.oauth.narrowedToken(for: [Self.one])
    await failure(.invalidToken) {
      try await fixture.oauth.send(WebRequest(url: url), with: first)
    }
    #expect(try await fixture.oauth.narrowedToken(for: [Self.one]) != first)
    let second = try await fixture.oauth.narrowedToken(for: [Self.two])
    fixture.oauth.module.invalidateAccessToken()
    #expect(try await fixture.oauth.narrowedToken(for: [Self.two]) != second)
  }

  @Test func `a narrowed token is not returned after a sign-out or a new sign-in`() async throws {
    let fixture = try await signedIn()
    let first = try await fixture.oauth.narrowedToken(for: [Self.one])
    try await fixture.oauth.signOut()
    await failure(.notAuthorized) { try await fixture.oauth.narrowedToken(for: [Self.one]) }
    try await fixture.oauth.signIn()
    #expect(try await fixture.oauth.narrowedToken(for: [Self.one]) != first)
    let second = try await fixture.oauth.narrowedToken(for: [Self.one])
    try await fixture.oauth.signIn()
    #expect(try await fixture.oauth.narrowedToken(for: [Self.one]) != second)
  }

  // MARK: Simultaneous callers

  @Test func `many callers at once use each refresh token once`() async throws {
    let fixture = try await signedIn()
    let oauth = fixture.oauth
    for _ in 1...5 {
      fixture.clock.advance(by: 3600)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for index in 0..<48 {
          group.addTask {
            switch index % 4 {
            case 0: _ = try await oauth.token()
            case 1: _ = try await oauth.refresh()
            case 2: _ = try await oauth.narrowedToken(for: [Self.one])
            default: _ = try await oauth.narrowedToken(for: [Self.two], scope: "demo")
            }
          }
        }
        try await group.waitForAll()
      }
    }
    #expect(fixture.sandbox.refreshTokenReuses == 0)
    #expect(oauth.currentToken?.refreshToken == fixture.sandbox.latestRefreshToken)
    #expect(await store.load("default")?.token == oauth.currentToken)
    let narrowed = fixture.tokenRequests.count { resources($0).count == 1 }
    #expect(narrowed == 10, "callers for the same token share it")
  }

  @Test func `token() waits for a narrowed token's request and returns the account's own token`()
    async throws
  {
    let fixture = try await signedIn()
    let oauth = fixture.oauth
    let gate = Gate(isOpen: false)
    fixture.sandbox.misbehave(at: .token, .hold(until: { await gate.opened() }))
    let narrowed = begin { try await oauth.narrowedToken(for: [Self.one]) }
    try await gate.isHolding()
    oauth.module.invalidateAccessToken()
    let own = begin { try await oauth.token() }
    // The caller of `token()` waits for the request under way.
    #expect(fixture.tokenRequests.count == 1)
    gate.open()
    let token = try await own.value
    #expect(try await narrowed.value.token.accessToken != token.accessToken)
    #expect(try claims(token)["aud"]?.array?.count == 2)
    #expect(fixture.sandbox.refreshTokenReuses == 0)
  }

  /// Two modules with one store act as two processes.
  @Test func `programs that share a store share the refresh token`() async throws {
    let fixture = try await signedIn()
    let other = AuthorizationModule(
      configuration: try #require(fixture.oauth.module.configuration),
      environment: fixture.oauth.environment)
    for _ in 1...3 {
      _ = try await other.narrowedToken(for: [Self.one])
      _ = try await fixture.oauth.refresh()
      _ = try await fixture.oauth.narrowedToken(for: [Self.two])
      _ = try await other.refresh()
      fixture.clock.advance(by: 3600)
    }
    #expect(fixture.sandbox.refreshTokenReuses == 0)
    let stored = await store.load("default")?.token
    #expect(stored?.refreshToken == fixture.sandbox.latestRefreshToken)
  }

  @Test func `after a cancelled call, the rotated refresh token is still stored`() async throws {
    let fixture = try await signedIn()
    let gate = Gate(isOpen: false)
    fixture.sandbox.misbehave(at: .token, .hold(until: { await gate.opened() }))
    let caller = begin { try await fixture.oauth.narrowedToken(for: [Self.one]) }
    try await gate.isHolding()
    caller.cancel()
    await failure(.cancelled) { try await caller.value }
    gate.open()
    try await fixture.oauth.flush()
    let stored = await store.load("default")?.token
    #expect(stored?.refreshToken == fixture.sandbox.latestRefreshToken)
    // The token that arrived after the cancellation serves the next caller.
    _ = try await fixture.oauth.narrowedToken(for: [Self.one])
    #expect(fixture.tokenRequests.count == 1)
  }

  // MARK: Refusals

  @Test(
    arguments: [
      ([], nil), ([], ""), ([], " "), (["https://three.example.com"], nil), (["api"], "demo"),
      ([one, two + "#x"], nil),
    ] as [([String], String?)])
  func `a request for nothing or for more than the account's rights is rejected and not sent`(
    resources: [String], scope: String?
  ) async throws {
    let fixture = try await signedIn()
    await failure(.invalidConfiguration) {
      try await fixture.oauth.narrowedToken(for: resources, scope: scope)
    }
    #expect(fixture.sandbox.requests.isEmpty)
  }

  @Test func `a refused request leaves the account as it is`() async throws {
    let fixture = try await signedIn { $0.resources = [] }
    let recorder = RefreshRecorder()
    fixture.oauth.tokenRefreshDelegate = recorder
    let before = fixture.oauth.currentToken
    await failure(.invalidTarget) {
      try await fixture.oauth.narrowedToken(for: ["https://three.example.com"])
    }
    await failure(.invalidScope) { try await fixture.oauth.narrowedToken(scope: "other") }
    #expect(fixture.oauth.currentToken == before)
    // The next refresh follows without a pause.
    let after = try await fixture.oauth.refresh()
    #expect(after.accessToken != before?.accessToken)
    #expect(await recorder.words(1) == ["refreshed \(after.accessToken)"])
  }

  @Test func `after a 503 with Retry-After, no token request is sent before that time`()
    async throws
  {
    let fixture = try await signedIn()
    fixture.sandbox.misbehave(at: .token, .unavailable(retryAfter: 30))
    await failure(.temporarilyUnavailable) {
      try await fixture.oauth.narrowedToken(for: [Self.one])
    }
    await failure(.temporarilyUnavailable) {
      try await fixture.oauth.narrowedToken(for: [Self.two])
    }
    await failure(.temporarilyUnavailable) { try await fixture.oauth.refresh() }
    #expect(fixture.tokenRequests.count == 1 && fixture.oauth.validToken != nil)
    fixture.clock.advance(by: 31)
    _ = try await fixture.oauth.narrowedToken(for: [Self.two])
  }

  @Test func `a refresh token that is no longer valid ends the session`() async throws {
    let fixture = try await signedIn()
    fixture.sandbox.revokeEverything()
    await failure(.invalidGrant) { try await fixture.oauth.narrowedToken(for: [Self.one]) }
    #expect(fixture.oauth.currentToken == nil)
    try await eventually { await store.list().isEmpty }
  }

  @Test func `the refresh token of a response without an access token is kept`() async throws {
    let fixture = try await signedIn()
    fixture.sandbox.misbehave(at: .token, .member("access_token", nil))
    await failure(.invalidResponse) { try await fixture.oauth.narrowedToken(for: [Self.one]) }
    let stored = await store.load("default")?.token
    #expect(stored?.refreshToken == fixture.sandbox.latestRefreshToken)
    #expect(fixture.oauth.validToken?.accessToken == stored?.accessToken)
    _ = try await fixture.oauth.narrowedToken(for: [Self.one])
    #expect(fixture.sandbox.refreshTokenReuses == 0)
  }
}
