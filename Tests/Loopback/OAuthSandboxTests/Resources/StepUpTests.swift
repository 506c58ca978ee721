import FoundationEssentials
import OAuthSandbox
import SQLoopback
import Testing

@testable import LoopbackSupport

/// What the API demands in addition at some paths (RFC 6750, RFC 9470).
@Suite(.timeLimit(.minutes(1))) struct StepUpTests {
  private static let careful = "urn:sandbox:careful"

  private func start(
    _ stepUps: [SandboxStepUp]
  ) async throws -> (SandboxServer, SandboxPeer) {
    var options = SandboxOptions()
    options.resources.stepUps = stepUps
    options.now = { Date(timeIntervalSince1970: 1_700_000_000) }
    let sandbox = try await SandboxServer.start(options)
    return (sandbox, SandboxPeer(sandbox: sandbox))
  }

  @Test func `a path can demand more scopes than the token has`() async throws {
    let (sandbox, peer) = try await start([.scopes(["demo", "files"], at: "/api/me")])
    let small = sandbox.issueTokens(scopes: ["profile", "demo"]).accessToken
    let refusal = try await peer.api("/api/me", token: small)
    #expect(refusal.status == 403)
    let challenge = try #require(refusal.header("www-authenticate"))
    #expect(challenge.contains("error=\"insufficient_scope\""))
    #expect(challenge.contains("scope=\"demo files\", resource_metadata="))
    #expect(try await peer.api("/api/DataSourceList", token: small).status == 200)
    let large = sandbox.issueTokens(scopes: ["demo", "files"]).accessToken
    #expect(try await peer.api("/api/me", token: large).status == 200)
    await sandbox.stop()
  }

  @Test func `a path can demand a stronger login`() async throws {
    let (sandbox, peer) = try await start([.login(acrValues: [Self.careful], at: "/api")])
    let weak = try await peer.redeem(try await peer.code()).tokens().accessToken
    let refusal = try await peer.api("/api/me", token: weak)
    #expect(refusal.status == 401)
    let challenge = try #require(refusal.header("www-authenticate"))
    #expect(challenge.contains("error=\"insufficient_user_authentication\""))
    #expect(challenge.contains("acr_values=\"\(Self.careful)\"") && !challenge.contains("max_age"))
    #expect(try await peer.api("/drive/v2/about", token: weak).status == 200, "another path")
    let code = try await peer.code(["acr_values": Self.careful])
    let strong = try await peer.redeem(code).tokens().accessToken
    #expect(try await peer.api("/api/me", token: strong).status == 200)
    await sandbox.stop()
  }

  @Test func `a path can demand a recent login`() async throws {
    let (sandbox, peer) = try await start([.login(maxAge: .seconds(60), at: "/api/me")])
    let visitor = SandboxVisitor()
    let first = try #require(try await peer.redirect(visitor: visitor).value("code"))
    let token = try await peer.redeem(first).tokens()
    sandbox.advance(by: .seconds(60))
    #expect(try await peer.api("/api/me", token: token.accessToken).status == 200)
    sandbox.advance(by: .seconds(1))
    let refusal = try await peer.api("/api/me", token: token.accessToken)
    #expect(refusal.status == 401)
    let challenge = try #require(refusal.header("www-authenticate"))
    #expect(challenge.contains("max_age=\"60\"") && !challenge.contains("acr_values"))
    let refreshed = try await peer.refresh(try #require(token.refreshToken)).tokens().accessToken
    #expect(try await peer.api("/api/me", token: refreshed).status == 401, "the login is still old")
    let again = try await peer.redirect(["max_age": "60"], visitor: visitor)
    let newer = try await peer.redeem(try #require(again.value("code"))).tokens().accessToken
    #expect(try await peer.api("/api/me", token: newer).status == 200)
    await sandbox.stop()
  }

  @Test func `a client credentials token does not satisfy the demand for a recent login`()
    async throws
  {
    let (sandbox, peer) = try await start([.login(maxAge: .seconds(60), at: "/api/me")])
    let machine = try await peer.post(
      "/token",
      [
        ("grant_type", "client_credentials"), ("client_id", "sandbox-service"),
        ("client_secret", "sandbox-secret"), ("scope", "demo"),
      ]
    ).tokens().accessToken
    #expect(try await peer.api("/api/me", token: machine).status == 401)
    await sandbox.stop()
  }

  @Test func `the API can be set to demand a different login in every answer`() async throws {
    let (sandbox, peer) = try await start([])
    let token = sandbox.issueTokens().accessToken
    sandbox.misbehave(at: .me, .endlessStepUp, times: 3)
    sandbox.misbehave(at: .me, .loginDemanded(acrValues: ["a", "b"], maxAge: .seconds(9)))
    var demands: Set<String> = []
    for _ in 0..<3 {
      let answer = try await peer.api("/api/me", token: token)
      #expect(answer.status == 401)
      demands.insert(try #require(answer.header("www-authenticate")))
    }
    #expect(demands.count == 3, "each demand is a new one")
    let last = try await peer.api("/api/me", token: token).header("www-authenticate")
    #expect(last?.hasSuffix("acr_values=\"a b\", max_age=\"9\"") == true)
    #expect(try await peer.api("/api/me", token: token).status == 200)
    await sandbox.stop()
  }
}
