import Foundation
import OAuthSandbox
import Testing

@testable import SQBasics
@testable import SequencingOAuth
@testable import TestSupport

/// A program that acts in its own name, at a server that sends refresh tokens and refuses them
/// later.
@Suite(.timeLimit(.minutes(1))) struct RepeatedGrantTests {
  /// Creates a client with T1 and R1 from client credentials; T1 has expired.
  private func fixture() async throws -> SessionFixture {
    let fixture = try SessionFixture()
    try await fixture.module.requestAccessTokenAsClient(scope: "demo")
    fixture.clock.advance(by: 3600)
    return fixture
  }

  private static func refusal(_ code: String, status: Int = 400) -> TokenServer.Answer {
    ScriptedTransport.json(#"{"error":"\#(code)"}"#, status: status)
  }

  /// For a dead refresh token, servers also send codes that would otherwise blame the request.
  @Test(arguments: ["invalid_grant", "invalid_request", "unauthorized_client", "invalid_token"])
  func `if the refresh token is refused, the client's own grant is repeated`(code: String)
    async throws
  {
    let fixture = try await fixture()
    fixture.server.next(Self.refusal(code))
    #expect(try await fixture.module.token().accessToken == "T2")
    #expect(fixture.requests == ["client_credentials", "refresh R1", "client_credentials"])
    #expect(fixture.fixture.http.forms.last?["scope"] == "demo")
    #expect(await fixture.store.content() == "T2 R2")
    #expect(await fixture.observer.words(1) == ["refreshed T2"])
    fixture.clock.advance(by: 3600)
    #expect(try await fixture.module.token().accessToken == "T3")
    #expect(fixture.refreshes == ["R1", "R2"])
  }

  @Test func `after a restart too, the client's own grant is repeated`() async throws {
    let first = try await fixture()
    let fixture = try SessionFixture()
    fixture.clock.advance(by: 3600)
    await fixture.store.memory.save(try #require(await first.store.memory.load("default")))
    fixture.server.next(Self.refusal("invalid_grant"))
    #expect(try await fixture.module.token().accessToken == "T1")
    #expect(fixture.requests == ["refresh R1", "client_credentials"])
  }

  @Test func `a refused refresh token is not sent again if the repeated grant fails`() async throws
  {
    let fixture = try await fixture()
    fixture.server.next(Self.refusal("invalid_grant"), Self.refusal("invalid_client", status: 401))
    await failure(.invalidClient) { try await fixture.module.token() }
    #expect(fixture.memory == "T1 -")
    #expect(await fixture.store.content() == "T1 -")
    fixture.clock.advance(by: 1)
    #expect(try await fixture.module.token().accessToken == "T2")
    #expect(fixture.refreshes == ["R1"] && fixture.requests.count == 4)
  }

  @Test func `if the repeated grant is refused too, the session ends`() async throws {
    let fixture = try await fixture()
    fixture.server.next(Self.refusal("invalid_grant"), Self.refusal("invalid_grant"))
    await failure(.invalidGrant) { try await fixture.module.token() }
    #expect(fixture.requests == ["client_credentials", "refresh R1", "client_credentials"])
    #expect(fixture.memory == nil)
    #expect(await fixture.store.content() == nil)
  }

  @Test func `if another process has stored a newer token, the grant is not repeated`() async throws
  {
    let fixture = try await fixture()
    let module = fixture.module
    fixture.server.gate.close()
    let caller = begin { try await module.token() }
    try await fixture.server.gate.isHolding()
    let held = try #require(await fixture.store.memory.load("default"))
    let newer = fixture.server.issue(at: fixture.clock.now)
    await fixture.store.memory.save(held.refreshed(newer, attributes: [:]))
    fixture.server.gate.open()
    #expect(try await caller.value.accessToken == newer.accessToken)
    #expect(fixture.requests == ["client_credentials", "refresh R1"])
  }

  @Test func `a token with fewer rights also comes from the repeated grant`() async throws {
    let fixture = try await fixture()
    fixture.server.next(Self.refusal("invalid_grant"))
    let narrowed = try await fixture.module.narrowedToken(scope: "demo")
    #expect(narrowed.text == "T2" && narrowed.token.refreshToken == nil)
    #expect(fixture.requests == ["client_credentials", "refresh R1", "client_credentials"])
    #expect(await fixture.store.content() == "T1 -")
    #expect(try await fixture.module.token().accessToken == "T3")
    #expect(fixture.refreshes == ["R1"])
  }

  @Test func `a refusal of fewer rights does not repeat the grant`() async throws {
    let fixture = try await fixture()
    fixture.server.next(Self.refusal("invalid_request"))
    await failure(.invalidRequest) { try await fixture.module.narrowedToken(scope: "demo") }
    #expect(fixture.requests == ["client_credentials", "refresh R1"] && fixture.memory == "T1 R1")
  }

  @Test func `the token of a user is not renewed by another grant`() async throws {
    let fixture = try await SessionFixture().restored()
    fixture.clock.advance(by: 3600)
    fixture.server.next(Self.refusal("invalid_grant"))
    await failure(.invalidGrant) { try await fixture.module.token() }
    #expect(fixture.requests == ["refresh R1"] && fixture.memory == nil)
  }

  @Test func `if the refresh token of a signed assertion is refused, another assertion is sent`()
    async throws
  {
    let client = try await KeyedClientFixture()
    let account = try client.account()
    let token = try await account.requestAccessToken(
      asserting: JWTAssertion(subject: "bob"), scope: "openid demo")
    #expect(token.refreshToken != nil)
    client.sandbox.revokeEverything()
    client.clock.advance(by: 3600)
    let next = try await account.token()
    #expect(next != token && next.idToken?.subject == SandboxUser.bob.subject)
    let grants = client.sandbox.requests(to: .token).map { $0.form("grant_type") }
    #expect(grants == [JWTAssertion.grantType, "refresh_token", JWTAssertion.grantType])
  }
}
