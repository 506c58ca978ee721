import Foundation
import OAuthSandbox
import SequencingOAuth
import Testing

@testable import LoopbackSupport
@testable import TestSupport

/// Grants whose callers are cancelled while the server creates the tokens.
@Suite(.timeLimit(.minutes(1))) struct CancelledGrantTests {
  enum Grant: CaseIterable, Sendable { case password, client, exchange }

  @Test(arguments: Grant.allCases)
  func `tokens that arrive after the caller was cancelled are revoked`(grant: Grant) async throws {
    let client = SandboxClient.service
    let fixture = try await SandboxFixture().register(
      clientID: client.id, secret: client.secret
    ) { $0.allowsPasswordGrant = true }
    let module = fixture.oauth.module
    let subject = fixture.sandbox.issueTokens(scopes: ["demo"]).accessToken
    let answer = Gate(isOpen: false)
    fixture.sandbox.misbehave(at: .token, .hold(until: { await answer.opened() }))
    let caller = begin {
      switch grant {
      case .password:
        _ = try await module.requestAccessToken(username: "alice", password: "alice-password")
      case .client: _ = try await module.requestAccessTokenAsClient()
      case .exchange:
        _ = try await module.exchangeToken(
          TokenExchange(subject: .accessToken(subject), audiences: ["https://b.example"]))
      }
    }
    try await eventually("the request arrives") { fixture.tokenRequests.count == 1 }
    caller.cancel()
    await failure(.cancelled) { try await caller.value }
    #expect(fixture.sandbox.requests(to: .revocation).isEmpty)
    answer.open()
    try await module.flush()
    let revoked = fixture.sandbox.requests(to: .revocation)
    #expect(revoked.count == (grant == .password ? 2 : 1))
    #expect(revoked.allSatisfy { $0.form("token")?.isEmpty == false })
    #expect(fixture.oauth.result.token == nil)
  }

  /// A web application may release an account after each request, even if its user has left.
  @Test func `a manager's flush waits until the late token of a released account is revoked`()
    async throws
  {
    let client = SandboxClient.service
    let fixture = try await SandboxFixture()
    let configuration = try ClientConfiguration(
      clientID: client.id, clientSecret: client.secret,
      provider: .issuer(fixture.sandbox.issuer.absoluteString))
    let manager = AccountManager(store: MemoryTokenStore())
    let answer = Gate(isOpen: false)
    fixture.sandbox.misbehave(at: .token, .hold(until: { await answer.opened() }))
    let caller = begin {
      _ = try await manager.account(configuration, id: "a").requestAccessTokenAsClient()
    }
    try await eventually("the request arrives") { fixture.tokenRequests.count == 1 }
    caller.cancel()
    await failure(.cancelled) { try await caller.value }
    manager.release(id: "a")
    let revoked = begin {
      try await manager.flush()
      return fixture.sandbox.requests(to: .revocation).count
    }
    for _ in 0..<200 { await Task.yield() }
    answer.open()
    #expect(try await revoked.value == 1)
  }

  @Test(arguments: [true, false])
  func `after a sign-out during a token request, flush waits until the late token is revoked`(
    isFirst: Bool
  ) async throws {
    let client = SandboxClient.service
    let fixture = try await SandboxFixture().register(
      clientID: client.id, secret: client.secret
    ) { $0.usesClientCredentials = true }
    let module = fixture.oauth.module
    if !isFirst { _ = try await module.token() }
    let earlier = fixture.tokenRequests.count
    let answer = Gate(isOpen: false)
    fixture.sandbox.misbehave(at: .token, .hold(until: { await answer.opened() }))
    let caller = begin { _ = try await module.refresh() }
    try await eventually("the request arrives") { fixture.tokenRequests.count == earlier + 1 }
    // Otherwise the caller would ask for another token after the sign-out.
    caller.cancel()
    await failure(.cancelled) { try await caller.value }
    try await module.signOut()
    answer.open()
    try await module.flush()
    #expect(fixture.sandbox.requests(to: .revocation).count == 1)
  }

  @Test
  func `tokens are revoked if the caller is cancelled while their ID token is being validated`()
    async throws
  {
    let party = try await OpenIDFixture(.es256, change: { $0.allowsPasswordGrant = true })
    let module = party.oauth.module
    let keys = Gate(isOpen: false)
    party.sandbox.misbehave(at: .keys, .hold(until: { await keys.opened() }))
    let caller = begin {
      _ = try await module.requestAccessToken(
        username: "alice", password: "alice-password", scope: "openid profile")
    }
    // Only an ID token that has arrived makes this grant fetch the keys.
    try await eventually("the keys are fetched") { party.sandbox.requests(to: .keys).count == 1 }
    caller.cancel()
    await failure(.cancelled) { try await caller.value }
    try await module.flush()
    #expect(party.sandbox.requests(to: .revocation).count == 2)
    #expect(party.sandbox.latestRefreshToken.map(party.sandbox.isActive) == false)
    keys.open()
    await party.sandbox.stop()
  }

  @Test(arguments: [
    (RevocationStyle.facebookPermissions, false), (.keycloakLogout, false), (.slackToken, false),
    (.rfc7009, true),
  ])
  func `late tokens are not revoked where the user's other tokens would end with them`(
    style: RevocationStyle, endsGrant: Bool
  ) async throws {
    let fixture = try await SandboxFixture()
    var provider = Provider.issuer(fixture.sandbox.issuer.absoluteString)
    provider.revocationStyle = style
    provider.revocationEndsGrant = endsGrant
    var configuration = try ClientConfiguration(
      clientID: SandboxClient.service.id, clientSecret: SandboxClient.service.secret,
      provider: provider)
    configuration.allowsPasswordGrant = true
    fixture.oauth.register(configuration)
    let module = fixture.oauth.module
    let answer = Gate(isOpen: false)
    fixture.sandbox.misbehave(at: .token, .hold(until: { await answer.opened() }))
    let caller = begin {
      _ = try await module.requestAccessToken(username: "alice", password: "alice-password")
    }
    try await eventually("the request arrives") { fixture.tokenRequests.count == 1 }
    caller.cancel()
    await failure(.cancelled) { try await caller.value }
    answer.open()
    try await module.flush()
    #expect(fixture.endpoints.last == .token)
    #expect(fixture.sandbox.latestRefreshToken.map(fixture.sandbox.isActive) == true)
    await fixture.sandbox.stop()
  }

  @Test func `an already cancelled caller sends no token request`() async throws {
    let fixture = try await SandboxFixture().register { $0.allowsPasswordGrant = true }
    let module = fixture.oauth.module
    let gate = Gate(isOpen: false)
    let caller = begin {
      await gate.opened()
      _ = try await module.requestAccessToken(username: "alice", password: "alice-password")
    }
    caller.cancel()
    gate.open()
    await failure(.cancelled) { try await caller.value }
    #expect(fixture.tokenRequests.isEmpty)
  }
}
