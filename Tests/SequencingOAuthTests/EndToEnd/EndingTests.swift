import Foundation
import OAuthSandbox
import SequencingOAuth
import TestSupport
import Testing

/// How a session ends, at the sandbox.
@Suite("End to end: the end of a session", .timeLimit(.minutes(1))) struct EndingTests {
  private func signedIn(
    _ bench: SandboxFixture, clientID: String = "sandbox-app", secret: String? = nil,
    authentication: ClientAuthentication? = nil
  ) async throws -> SQToken {
    try bench.register(clientID: clientID, secret: secret, authentication: authentication)
    return try await bench.oauth.signIn()
  }

  @Test(
    arguments: [
      ("sandbox-app", nil, ClientAuthentication.publicClient),
      ("sandbox-service", "sandbox-secret", .basic), ("sandbox-service", "sandbox-secret", .post),
    ] as [(String, String?, ClientAuthentication)])
  func `revoking ends the refresh token, then the access token, then the session`(
    clientID: String, secret: String?, authentication: ClientAuthentication
  ) async throws {
    let bench = try await SandboxFixture()
    let token = try await signedIn(
      bench, clientID: clientID, secret: secret, authentication: authentication)
    var events = bench.oauth.events.makeAsyncIterator()
    try await bench.oauth.revoke()

    let requests = bench.sandbox.requests(to: .revocation)
    #expect(requests.map { $0.form("token") } == [token.refreshToken, token.accessToken])
    #expect(requests.map { $0.form("token_type_hint") } == ["refresh_token", "access_token"])
    #expect(
      requests.allSatisfy { ($0.header("authorization") != nil) == (authentication == .basic) })
    #expect(!bench.sandbox.isActive(token.accessToken))
    #expect(bench.oauth.result.token == nil && bench.oauth.validToken == nil)
    #expect(!(try await bench.oauth.module.restore()), "the store is empty")
    guard case .ended(.revoked)? = await events.next() else {
      Issue.record("the end was not told")
      return
    }
    await failure(.notAuthorized) { try await bench.oauth.token() }

    // The next request for access opens the browser.
    try await bench.oauth.module.requestAccess()
    #expect(bench.endpoints.filter { $0 == .authorization }.count == 2)
  }

  @Test func `without a token there is nothing to revoke and no request`() async throws {
    let bench = try await SandboxFixture().register()
    try await bench.oauth.revoke()
    #expect(bench.sandbox.requests(to: .revocation).isEmpty)
  }

  @Test func `a token that only the store has is revoked too`() async throws {
    let bench = try await SandboxFixture()
    let token = try await signedIn(bench)
    let other = SQOAuth(environment: bench.oauth.environment)
    other.register(
      try ClientConfiguration(
        clientID: "sandbox-app", redirectURI: "http://127.0.0.1/callback",
        provider: .issuer(bench.sandbox.issuer.absoluteString)))
    try await other.revoke()
    #expect(!bench.sandbox.isActive(token.accessToken))
    #expect(try await bench.oauth.environment.tokenStore.list().isEmpty)
  }

  @Test(arguments: [
    (SandboxMisbehaviour.unavailable(retryAfter: 7), SQOAuthError.Code.temporarilyUnavailable),
    (.status(500), .serverError), (.cut(.beforeProcessing), .connectionFailed),
    (.error("unsupported_token_type"), .unsupportedTokenType),
    (.error("invalid_client", status: 401), .invalidClient),
    (.status(302, headers: ["Location": "/elsewhere"]), .redirectRefused),
  ])
  func `what fails keeps the tokens, and can be tried again`(
    misbehaviour: SandboxMisbehaviour, code: SQOAuthError.Code
  ) async throws {
    let bench = try await SandboxFixture()
    let token = try await signedIn(bench)
    bench.sandbox.misbehave(at: .revocation, misbehaviour)
    let error = await failure(code) { try await bench.oauth.revoke() }
    #expect(error?.retryAfter == (code == .temporarilyUnavailable ? .seconds(7) : nil))
    #expect(bench.oauth.validToken == token)
    #expect(try await bench.oauth.refresh(with: token).refreshToken != nil)
    try await bench.oauth.revoke()
    #expect(bench.oauth.result.token == nil)
  }

  @Test func `a provider without an endpoint is told apart, and keeps the tokens`() async throws {
    let bench = try await SandboxFixture()
    try bench.register(byHand: true)
    let token = try await bench.oauth.signIn()
    await failure(.revocationUnsupported) { try await bench.oauth.revoke() }
    #expect(bench.oauth.result.token == token)
  }

  @Test func `tokens that the server does not know are as good as revoked`() async throws {
    let bench = try await SandboxFixture()
    _ = try await signedIn(bench)
    bench.sandbox.revokeEverything()
    try await bench.oauth.revoke()
    #expect(bench.oauth.result.token == nil)
  }

  @Test func `no refresh comes between the revocation and the end`() async throws {
    let bench = try await SandboxFixture()
    _ = try await signedIn(bench)
    let gate = Gate(isOpen: false)
    bench.sandbox.misbehave(at: .revocation, .hold(until: { await gate.opened() }))
    async let revoked: Void = bench.oauth.revoke()
    try await eventually { !bench.sandbox.requests(to: .revocation).isEmpty }
    let refresh = Task { try await bench.oauth.module.refresh() }
    await Task.yield()
    gate.open()
    try await revoked
    await failure(.notAuthorized) { try await refresh.value }
    #expect(bench.tokenRequests.count == 1, "the sign-in's own")
  }

  @Test func `a sign-out during a refresh stays a sign-out`() async throws {
    let bench = try await SandboxFixture()
    _ = try await signedIn(bench)
    let gate = Gate(isOpen: false)
    bench.sandbox.misbehave(at: .token, .hold(until: { await gate.opened() }))
    let refresh = Task { try await bench.oauth.module.refresh() }
    try await eventually { bench.tokenRequests.count == 2 }
    bench.oauth.userDidSignOut()
    #expect(bench.oauth.result.token == nil)
    await failure(.notAuthorized) { try await refresh.value }
    gate.open()
    try await bench.oauth.signOut()
    #expect(try await bench.oauth.environment.tokenStore.list().isEmpty)
    #expect(bench.oauth.result.token == nil)
  }

  @Test func `a sign-out tells the server nothing, and the timer no more`() async throws {
    let bench = try await SandboxFixture()
    _ = try await signedIn(bench)
    bench.oauth.userDidSignOut()
    try await eventually { bench.clock.sleepers == 0 }
    let count = bench.sandbox.requests.count
    bench.clock.advance(by: 86_400)
    #expect(bench.sandbox.requests.count == count)
  }
}
