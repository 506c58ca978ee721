import Foundation
import OAuthSandbox
import Testing

@testable import LoopbackSupport
@testable import SequencingOAuth
@testable import TestSupport

/// A server with rules like those of AT Protocol: pushed requests, nonces that change every minute,
/// and rotating refresh tokens that are bound to the client's key.
@Suite("End to end: a server like AT Protocol's", .timeLimit(.minutes(2)))
struct ATProtocolTests {
  private func signedIn(_ kind: BoundFixture.Kind) async throws -> BoundFixture {
    try await BoundFixture(kind, SandboxOptions(.atProtocol), scope: "demo").signedIn()
  }

  /// Returns a module of a program that has just started, and has nothing but the store.
  private func restarted(_ bound: BoundFixture) throws -> AuthorizationModule {
    var environment = ClientEnvironment()
    environment.clock = bound.clock
    environment.tokenStore = bound.store
    let module = AuthorizationModule(
      configuration: try bound.module.context.configuration.get(), environment: environment)
    module.refreshesAutomatically = false
    return module
  }

  @Test(arguments: [BoundFixture.Kind.public, .key])
  func `a user signs in, and each server asks once for its nonce`(kind: BoundFixture.Kind)
    async throws
  {
    let bound = try await signedIn(kind)
    #expect(try await bound.send().status == 200)
    // Every answer has a nonce, so only the first request to each server is repeated.
    #expect(bound.nonces(at: .pushedAuthorization).map { $0 == nil } == [true, false])
    #expect(bound.nonces(at: .token).map { $0 == nil } == [false])
    #expect(bound.nonces(at: .me).map { $0 == nil } == [true, false])
    let pushed = bound.sandbox.requests(to: .pushedAuthorization)
    let assertions = pushed.compactMap { $0.form("client_assertion") }
    #expect(Set(assertions).count == (kind == .key ? 2 : 0))
    #expect(pushed.allSatisfy { $0.form("client_secret") == nil })
    #expect(pushed.allSatisfy { $0.form("client_id") == BoundFixture.clientID })
    #expect(pushed.allSatisfy { $0.proof?.algorithm == "ES256" })
    try bound.audit()
  }

  @Test(arguments: [BoundFixture.Kind.public, .key])
  func `a request every minute uses the newest nonce and is never repeated`(kind: BoundFixture.Kind)
    async throws
  {
    let bound = try await signedIn(kind)
    _ = try await bound.send()
    bound.sandbox.forgetRequests()
    for _ in 0..<30 {
      bound.clock.advance(by: 60)
      _ = try await bound.send()
    }
    #expect(bound.sandbox.requests.count == 30)
    #expect(Set(bound.nonces(at: .me)).count == 30)
    try bound.audit()
  }

  @Test(arguments: [BoundFixture.Kind.public, .key])
  func `after two days of refreshes and a restart, the account has the same key`(
    kind: BoundFixture.Kind
  ) async throws {
    let bound = try await signedIn(kind)
    let key = try #require(await bound.record?.proofKey)
    var module = bound.module
    var refreshTokens: Set<String> = []
    for hour in 0..<48 {
      if hour == 24 { module = try restarted(bound) }
      bound.clock.advance(by: 3600)
      bound.sandbox.forgetRequests()
      #expect(try await module.send(WebRequest(url: bound.sandbox.url(.me))).status == 200)
      // After an hour, each server asks once for its newest nonce.
      let refreshes = bound.sandbox.requests(to: .token)
      #expect(refreshes.count == 2 && bound.sandbox.requests(to: .me).count == 2, "hour \(hour)")
      // The store has the last nonce, so even the first proof after the restart has a nonce.
      #expect(refreshes.allSatisfy { $0.proof?.nonce != nil }, "hour \(hour)")
      #expect(refreshes.allSatisfy { $0.proof?.keyThumbprint == key.thumbprint })
      refreshTokens.formUnion(refreshes.compactMap { $0.form("refresh_token") })
      try bound.audit()
    }
    #expect(refreshTokens.count == 48 && bound.sandbox.refreshTokenReuses == 0)
    let record = try #require(await bound.record)
    #expect(record.proofKey == key && record.token.isBound)
    #expect(record.token.refreshToken == bound.sandbox.latestRefreshToken)
    #expect(record.serverNonce == bound.sandbox.proofNonce(of: .authorizationServer))
  }

  @Test(arguments: [nil, "did:plc:someone", "", "DID:plc:me", "did:plc:me "])
  func `a token for another user or without a user is not used`(subject: String?) async throws {
    let bound = try await BoundFixture(
      .public, SandboxOptions(.atProtocol), scope: "demo",
      change: { $0.expectedSubject = "did:plc:me" })
    bound.sandbox.misbehave(at: .token, .member("sub", subject.map { .string($0) }))
    let error = await failure(.idTokenSubject) { try await bound.oauth.signIn() }
    #expect(error?.message.contains("did:plc:me") == true)
    #expect(await bound.record == nil && bound.oauth.currentToken == nil)
  }

  @Test func `a token for the expected user is used and refreshed`() async throws {
    let bound = try await BoundFixture(
      .public, SandboxOptions(.atProtocol), scope: "demo",
      change: { $0.expectedSubject = "did:plc:me" })
    bound.sandbox.misbehave(at: .token, .member("sub", "did:plc:me"), times: 8)
    try await bound.signedIn()
    bound.clock.advance(by: 3600)
    #expect(try await bound.send().status == 200)
    try await bound.oauth.revoke()
    #expect(await bound.record == nil)
  }

  @Test func `a refreshed token that names another user is not used`() async throws {
    let bound = try await BoundFixture(
      .public, SandboxOptions(.atProtocol), scope: "demo",
      change: { $0.expectedSubject = "did:plc:me" })
    bound.sandbox.misbehave(at: .token, .member("sub", "did:plc:me"), times: 1)
    try await bound.signedIn()
    bound.clock.advance(by: 3600)
    bound.sandbox.misbehave(at: .token, .member("sub", "did:plc:other"), times: 2)
    await failure(.idTokenSubject) { try await bound.send() }
  }
}
