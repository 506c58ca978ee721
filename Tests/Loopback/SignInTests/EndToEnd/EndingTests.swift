import Foundation
import OAuthSandbox
import SQBasics
import SequencingOAuth
import Testing

@testable import LoopbackSupport
@testable import TestSupport

/// How a session ends at the sandbox.
@Suite("End to end: the end of a session", .timeLimit(.minutes(1))) struct EndingTests {
  private func signedIn(
    _ fixture: SandboxFixture, clientID: String = "sandbox-app", secret: String? = nil,
    authentication: ClientAuthentication? = nil
  ) async throws -> SQToken {
    try fixture.register(clientID: clientID, secret: secret, authentication: authentication)
    return try await fixture.oauth.signIn()
  }

  @Test(
    arguments: [
      ("sandbox-app", nil, ClientAuthentication.publicClient),
      ("sandbox-service", "sandbox-secret", .basic), ("sandbox-service", "sandbox-secret", .post),
    ] as [(String, String?, ClientAuthentication)])
  func `revoke() revokes the refresh token, then the access token, and ends the session`(
    clientID: String, secret: String?, authentication: ClientAuthentication
  ) async throws {
    let fixture = try await SandboxFixture()
    let token = try await signedIn(
      fixture, clientID: clientID, secret: secret, authentication: authentication)
    var events = fixture.oauth.events().makeAsyncIterator()
    try await fixture.oauth.revoke()

    let requests = fixture.sandbox.requests(to: .revocation)
    #expect(requests.map { $0.form("token") } == [token.refreshToken, token.accessToken])
    #expect(requests.map { $0.form("token_type_hint") } == ["refresh_token", "access_token"])
    #expect(
      requests.allSatisfy { ($0.header("authorization") != nil) == (authentication == .basic) })
    #expect(!fixture.sandbox.isActive(token.accessToken))
    #expect(fixture.oauth.result.token == nil && fixture.oauth.validToken == nil)
    #expect(!(try await fixture.oauth.module.restore()), "the store is empty")
    guard case .ended(.revoked)? = await events.next() else {
      Issue.record("no event tells that the session has ended by a revocation")
      return
    }
    await failure(.notAuthorized) { try await fixture.oauth.token() }

    // The next request for access opens the browser.
    try await fixture.oauth.module.requestAccess()
    #expect(fixture.endpoints.filter { $0 == .authorization }.count == 2)
  }

  @Test func `if the store fails after a revocation, the error says that the tokens are revoked`()
    async throws
  {
    let fixture = try await SandboxFixture()
    let store = ScriptedStore()
    fixture.oauth.environment.tokenStore = store
    let token = try await signedIn(fixture)
    store.fails(toErase: true)
    let error = await failure(.storeFailed) { try await fixture.oauth.revoke() }
    #expect(error?.message.hasPrefix("the server has revoked the tokens") == true)
    #expect(!fixture.sandbox.isActive(token.accessToken))
    #expect(fixture.oauth.currentToken == nil)
    store.fails()
    try await fixture.oauth.signOut()
    #expect(await store.content() == nil)
  }

  @Test func `revoking without a token sends no request`() async throws {
    let fixture = try await SandboxFixture().register()
    try await fixture.oauth.revoke()
    #expect(fixture.sandbox.requests(to: .revocation).isEmpty)
  }

  @Test func `a token that is stored but not yet loaded is revoked`() async throws {
    let fixture = try await SandboxFixture()
    let token = try await signedIn(fixture)
    let other = SQOAuth(environment: fixture.oauth.environment)
    other.register(
      try ClientConfiguration(
        clientID: "sandbox-app", redirectURI: "http://127.0.0.1/callback",
        provider: .issuer(fixture.sandbox.issuer.absoluteString)))
    try await other.revoke()
    #expect(!fixture.sandbox.isActive(token.accessToken))
    #expect(try await fixture.oauth.environment.tokenStore.list().isEmpty)
  }

  @Test(arguments: [
    (SandboxMisbehaviour.unavailable(retryAfter: 7), SQOAuthError.Code.temporarilyUnavailable),
    (.status(500), .serverError), (.cut(.beforeProcessing), .connectionFailed),
    (.error("unsupported_token_type"), .unsupportedTokenType),
    (.error("invalid_client", status: 401), .invalidClient),
    (.status(302, headers: ["Location": "/elsewhere"]), .redirectRefused),
  ])
  func `a failed revocation keeps the tokens and can be repeated`(
    misbehaviour: SandboxMisbehaviour, code: SQOAuthError.Code
  ) async throws {
    let fixture = try await SandboxFixture()
    let token = try await signedIn(fixture)
    fixture.sandbox.misbehave(at: .revocation, misbehaviour)
    let error = await failure(code) { try await fixture.oauth.revoke() }
    #expect(error?.retryAfter == (code == .temporarilyUnavailable ? .seconds(7) : nil))
    #expect(fixture.oauth.validToken == token)
    #expect(try await fixture.oauth.refresh(with: token).refreshToken != nil)
    try await fixture.oauth.revoke()
    #expect(fixture.oauth.result.token == nil)
  }

  @Test
  func `without a revocation endpoint, revoke() fails and keeps the tokens`()
    async throws
  {
    let fixture = try await SandboxFixture()
    try fixture.register(byHand: true)
    let token = try await fixture.oauth.signIn()
    await failure(.revocationUnsupported) { try await fixture.oauth.revoke() }
    #expect(fixture.oauth.result.token == token)
  }

  @Test func `revoking tokens that the server has already revoked succeeds and ends the session`()
    async throws
  {
    let fixture = try await SandboxFixture()
    _ = try await signedIn(fixture)
    fixture.sandbox.revokeEverything()
    try await fixture.oauth.revoke()
    #expect(fixture.oauth.result.token == nil)
  }

  @Test func `no refresh happens between the revocation and the end of the session`() async throws {
    let fixture = try await SandboxFixture()
    _ = try await signedIn(fixture)
    let gate = Gate(isOpen: false)
    fixture.sandbox.misbehave(at: .revocation, .hold(until: { await gate.opened() }))
    async let revoked: Void = fixture.oauth.revoke()
    try await eventually { !fixture.sandbox.requests(to: .revocation).isEmpty }
    let refresh = begin { try await fixture.oauth.module.refresh() }
    gate.open()
    try await revoked
    await failure(.notAuthorized) { try await refresh.value }
    #expect(fixture.tokenRequests.count == 1, "only the sign-in sent a token request")
  }

  @Test func `after a sign-out during a refresh, no token is stored`() async throws {
    let fixture = try await SandboxFixture()
    _ = try await signedIn(fixture)
    let gate = Gate(isOpen: false)
    fixture.sandbox.misbehave(at: .token, .hold(until: { await gate.opened() }))
    let refresh = Task { try await fixture.oauth.module.refresh() }
    try await eventually { fixture.tokenRequests.count == 2 }
    fixture.oauth.userDidSignOut()
    #expect(fixture.oauth.result.token == nil)
    await failure(.notAuthorized) { try await refresh.value }
    gate.open()
    try await fixture.oauth.signOut()
    #expect(try await fixture.oauth.environment.tokenStore.list().isEmpty)
    #expect(fixture.oauth.result.token == nil)
  }

  @Test func `a sign-out sends no request and stops the refresh timer`() async throws {
    let fixture = try await SandboxFixture()
    _ = try await signedIn(fixture)
    await fixture.clock.hasSleeper()
    let count = fixture.sandbox.requests.count
    fixture.oauth.userDidSignOut()
    // This check comes before `flush()`, because `flush()` sets the timer anew.
    try await eventually("the timer stops") { fixture.clock.sleepers == 0 }
    try await fixture.oauth.module.flush()
    fixture.clock.advance(by: 86_400)
    try await fixture.oauth.module.flush()
    #expect(fixture.sandbox.requests.count == count)
  }
}
