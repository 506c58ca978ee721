import FoundationEssentials
import SQLoopback
import TestSupport
import Testing

@testable import LoopbackSupport
@testable import OAuthSandbox

/// The options of a test that wants no limit and writes the largest value.
@Suite(.timeLimit(.minutes(1))) struct LongestOptionTests {
  private static func start(_ format: SandboxAccessTokenFormat) async throws -> SandboxServer {
    let longest = Duration.seconds(Int64.max)
    return try await ProvingPeer.start { options in
      options.accessTokenFormat = format
      options.accessTokenLifetime = longest
      options.openID.idTokenLifetime = longest
      options.refreshTokenTimeout = longest
      options.authorizationLifetime = longest
      options.codeLifetime = longest
      options.pushedRequestLifetime = longest
      options.deviceCodeLifetime = longest
      options.deviceInterval = longest
      options.dpop.proofLifetime = longest
      options.dpop.clockTolerance = longest
      options.dpop.nonceLifetime = longest
      options.dpop.noncesRequiredBy = [.authorizationServer]
      options.driveBytes = .max
    }
  }

  @Test(arguments: [SandboxAccessTokenFormat.opaque, .jwt(.es256)])
  func `a lifetime may be as long as a duration can be`(format: SandboxAccessTokenFormat)
    async throws
  {
    let sandbox = try await Self.start(format)
    let client = ProvingPeer(sandbox)
    let code = try await client.peer.code(["scope": "openid profile files"])
    let tokens = try await client.peer.redeem(code).tokens()
    #expect(try #require(tokens.expiresIn) > 99 * 365 * 86_400)
    sandbox.advance(by: .seconds(50 * 365 * 86_400))
    let me = try await client.peer.api("/api/me", token: tokens.accessToken)
    #expect(me.status == 200, "\(me.text)")
    let introspection = try await client.peer.post(
      "/introspect",
      [
        ("token", tokens.accessToken), ("client_id", "sandbox-service"),
        ("client_secret", "sandbox-secret"),
      ])
    #expect(introspection.text.contains(#""active":true"#), "\(introspection.text)")
    #expect(try await client.peer.refresh(try #require(tokens.refreshToken)).status == 200)
    #expect(try await client.peer.post("/par", SandboxPeer.signInForm).status == 201)
    let device = [("client_id", "sandbox-app")]
    #expect(try await client.peer.post("/device_authorization", device).status == 200)
    await sandbox.stop()
  }

  @Test func `proofs and nonces may be valid as long as a duration can be`() async throws {
    let sandbox = try await Self.start(.opaque)
    let client = ProvingPeer(sandbox)
    let refused = try await client.post(ProvingPeer.passwordForm, client.proof())
    #expect(refused.error == "use_dpop_nonce", "\(refused.text)")
    let nonce = refused.header("dpop-nonce")
    let answer = try await client.post(ProvingPeer.passwordForm, client.proof(nonce: nonce))
    #expect(try answer.tokens().tokenType == "DPoP")
    await sandbox.stop()
  }

  @Test func `a drive may have any size`() async throws {
    let sandbox = try await Self.start(.opaque)
    let answer = try await DriveClient(sandbox).send(
      "POST", "/upload/drive/v2/files", body: pattern(1000))
    #expect(answer.status == 201, "\(answer.text)")
    await sandbox.stop()
  }

  @Test func `an answer may be delayed as long as a duration can be`() async throws {
    let sandbox = try await SandboxServer.start()
    sandbox.misbehave(at: .me, .delay(.seconds(Int64.max)))
    let waiting = Task { try await SandboxPeer(sandbox: sandbox).get("/api/me") }
    _ = try await sandbox.requests(to: .me, atLeast: 1)
    await sandbox.stop()
    await #expect(throws: LoopbackError.self) { try await waiting.value }
  }

  @Test func `the clock may be moved by any duration`() async throws {
    let sandbox = try await SandboxServer.start()
    for time in [Duration.seconds(Int64.max) * 18, .zero - .seconds(Int64.max) * 18] {
      for _ in 0..<3 { sandbox.advance(by: time) }
      #expect(try await SandboxPeer(sandbox: sandbox).get("/").status == 200)
    }
    await sandbox.stop()
  }
}
