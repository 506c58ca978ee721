import FoundationEssentials
import OAuthSandbox
import SQBasics
import SQLoopback
import Testing

@testable import LoopbackSupport

/// How long refresh tokens and users' permissions last, and what responses say about it.
@Suite(.timeLimit(.minutes(1))) struct GrantLifetimeTests {
  private func sandbox(
    timeout: Duration? = .seconds(700), lifetime: Duration? = .seconds(1000), rotates: Bool = true
  ) async throws -> SandboxServer {
    var options = SandboxOptions()
    options.refreshTokenTimeout = timeout
    options.authorizationLifetime = lifetime
    options.rotatesRefreshTokens = rotates
    options.now = { Date(timeIntervalSince1970: 1_900_000_000) }
    return try await SandboxServer.start(options)
  }

  private func ends(_ answer: LoopbackAnswer) throws -> [SandboxJSON?] {
    let json = try answer.json()
    return [json["refresh_token_timeout"], json["authorization_expires_in"]]
  }

  @Test(arguments: [true, false])
  func `a token response names the refresh token timeout and the rest of the grant's lifetime`(
    rotates: Bool
  ) async throws {
    let sandbox = try await sandbox(rotates: rotates)
    let peer = SandboxPeer(sandbox: sandbox)
    var answer = try await peer.redeem(try await peer.code())
    #expect(try ends(answer) == [700, 1000])
    let first = try #require(try answer.tokens().refreshToken)
    sandbox.advance(by: .seconds(600))
    answer = try await peer.refresh(first)
    #expect(try ends(answer) == [400, 400], "the timeout ends with the grant")
    sandbox.advance(by: .seconds(500))
    let latest = try #require(sandbox.latestRefreshToken)
    #expect(try await peer.refresh(latest).error == "invalid_grant")
    await sandbox.stop()
  }

  @Test func `a refresh token that is not used within its timeout expires`() async throws {
    let sandbox = try await sandbox(lifetime: nil)
    let peer = SandboxPeer(sandbox: sandbox)
    let tokens = sandbox.issueTokens()
    sandbox.advance(by: .seconds(701))
    #expect(try await peer.refresh(tokens.refreshToken).error == "invalid_grant")
    await sandbox.stop()
  }

  @Test func `without the lifetime options, responses and metadata name no expiration`()
    async throws
  {
    let sandbox = try await sandbox(timeout: nil, lifetime: nil)
    let peer = SandboxPeer(sandbox: sandbox)
    let answer = try await peer.redeem(try await peer.code())
    #expect(try ends(answer) == [nil, nil])
    #expect(try await expirationTypes(sandbox) == nil)
    await sandbox.stop()
  }

  @Test func `the metadata lists the supported kinds of refresh token expiration`() async throws {
    let sandbox = try await sandbox()
    #expect(try await expirationTypes(sandbox) == ["authorization", "token_timeout"])
    await sandbox.stop()
  }

  private func expirationTypes(_ sandbox: SandboxServer) async throws -> SandboxJSON? {
    try await SandboxPeer(sandbox: sandbox).get(sandbox.url(.metadata))
      .json()["refresh_token_expiration_types_supported"]
  }
}
