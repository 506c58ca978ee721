import FoundationEssentials
import OAuthSandbox
import SQBasics
import SQLoopback
import Testing

@testable import LoopbackSupport

/// What a test of a client's refreshes can read from the sandbox.
@Suite(.timeLimit(.minutes(1))) struct RefreshTests {
  @Test func `a reuse of a refresh token is counted and revokes only its own token family`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    let first = sandbox.issueTokens()
    let other = sandbox.issueTokens()
    let second = try await client.refresh(first.refreshToken).tokens()
    #expect(sandbox.refreshTokenReuses == 0)
    #expect(try await client.api("/api/me", token: second.accessToken).status == 200)
    #expect(try await client.refresh(first.refreshToken).error == "invalid_grant")
    // The reuse has revoked the family's newest tokens, too.
    let newest = try #require(second.refreshToken)
    #expect(!sandbox.isActive(newest))
    for token in [first.accessToken, second.accessToken] {
      let refused = try await client.api("/api/me", token: token)
      #expect(refused.status == 401 && refused.error == "invalid_token")
    }
    #expect(try await client.refresh(first.refreshToken).error == "invalid_grant")
    #expect(sandbox.refreshTokenReuses == 2)
    #expect(try await client.refresh("unknown").error == "invalid_grant")
    #expect(try await client.api("/api/me", token: other.accessToken).status == 200)
    _ = try await client.refresh(other.refreshToken).tokens()
    #expect(sandbox.refreshTokenReuses == 2)
    #expect(try await client.refresh(newest).error == "invalid_grant")
    await sandbox.stop()
  }

  @Test func `without rotation, repeated use is not counted as reuse`() async throws {
    var options = SandboxOptions()
    options.rotatesRefreshTokens = false
    let sandbox = try await SandboxServer.start(options)
    let client = SandboxPeer(sandbox: sandbox)
    let tokens = sandbox.issueTokens()
    for _ in 0..<3 { _ = try await client.refresh(tokens.refreshToken).tokens() }
    #expect(sandbox.refreshTokenReuses == 0)
    #expect(sandbox.latestRefreshToken(inFamilyOf: tokens.refreshToken) == tokens.refreshToken)
    await sandbox.stop()
  }

  @Test func `the newest refresh token can be looked up by its family or its user`() async throws {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    let alice = sandbox.issueTokens()
    let bob = sandbox.issueTokens(for: "bob")
    let second = try await client.refresh(alice.refreshToken).tokens()
    let newest = try #require(second.refreshToken)
    for token in [alice.accessToken, alice.refreshToken, second.accessToken, newest] {
      #expect(sandbox.latestRefreshToken(inFamilyOf: token) == newest)
    }
    #expect(sandbox.latestRefreshToken(inFamilyOf: bob.accessToken) == bob.refreshToken)
    #expect(sandbox.latestRefreshToken(inFamilyOf: "unknown") == nil)
    #expect(sandbox.latestRefreshToken(for: "alice") == newest)
    #expect(sandbox.latestRefreshToken(for: "bob") == bob.refreshToken)
    #expect(sandbox.latestRefreshToken(for: "nobody") == nil)
    // The user's newest token is now the token of another client.
    let service = sandbox.issueTokens(to: "sandbox-service")
    #expect(sandbox.latestRefreshToken(for: "alice") == service.refreshToken)
    #expect(sandbox.latestRefreshToken(for: "alice", client: "sandbox-app") == newest)
    await sandbox.stop()
  }

  @Test func `the newest refresh token can be looked up even if the response with it was lost`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let tokens = sandbox.issueTokens()
    sandbox.misbehave(at: .token, .cut(.afterProcessing))
    await #expect(throws: LoopbackError.self) {
      try await SandboxPeer(sandbox: sandbox).refresh(tokens.refreshToken)
    }
    let newest = sandbox.latestRefreshToken(inFamilyOf: tokens.refreshToken)
    #expect(newest != nil && newest != tokens.refreshToken)
    await sandbox.stop()
  }

  // MARK: Simultaneous requests

  @Test func `for sequential requests the sandbox reports at most one request in flight`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    #expect(sandbox.maximumRequestsInFlight(at: .token) == 0)
    for _ in 0..<20 { _ = try await client.refresh("unknown") }
    #expect(sandbox.maximumRequestsInFlight(at: .token) == 1)
    #expect(sandbox.maximumRequestsInFlight(at: .me) == 0)
    await sandbox.stop()
  }

  @Test func `the maximum number of requests in flight includes held requests`() async throws {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    let token = sandbox.issueTokens().refreshToken
    let gate = Gate()
    sandbox.misbehave(at: .token, .hold { await gate.wait() }, times: 3)
    sandbox.misbehave(
      at: .token, .hold(until: { await gate.wait() }, then: .unavailable(retryAfter: 9)))
    let tasks = (0..<4).map { _ in Task { try await client.refresh(token).status } }
    _ = try await sandbox.requests(to: .token, atLeast: 4)
    #expect(sandbox.isActive(token), "no held request has an effect yet")
    #expect(sandbox.latestRefreshToken == token)
    gate.open()
    var statuses: [Int] = []
    for task in tasks { statuses.append(try await task.value) }
    #expect(statuses.sorted() == [200, 400, 400, 503])
    #expect(sandbox.maximumRequestsInFlight(at: .token) == 4)
    sandbox.forgetRequests()
    #expect(sandbox.maximumRequestsInFlight(at: .token) == 0)
    _ = try await client.refresh("unknown")
    #expect(sandbox.maximumRequestsInFlight(at: .token) == 1)
    await sandbox.stop()
  }

  @Test func `a held request has no effect if the sandbox stops before its release`() async throws {
    let sandbox = try await SandboxServer.start()
    let token = sandbox.issueTokens().refreshToken
    let gate = Gate()
    sandbox.misbehave(at: .token, .hold { await gate.wait() })
    let task = Task { try await SandboxPeer(sandbox: sandbox).refresh(token) }
    _ = try await sandbox.requests(to: .token, atLeast: 1)
    await sandbox.stop()
    await #expect(throws: LoopbackError.self) { try await task.value }
    gate.open()
    #expect(sandbox.isActive(token), "the request had no effect")
  }

  @Test func `the sandbox counts how often each endpoint received each bearer token`() async throws
  {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    let token = sandbox.issueTokens().accessToken
    for _ in 0..<2 { _ = try await client.api("/api/me", token: token) }
    _ = try await client.api("/api/me", token: "other")
    _ = try await client.api("/api/DataSourceList", token: token)
    _ = try await client.get("/api/me")
    _ = try await client.get("/api/me", headers: [("Authorization", "Basic YTpi")])
    #expect(sandbox.bearerTokens(at: .me) == [token: 2, "other": 1])
    #expect(sandbox.bearerTokens(at: .files) == [token: 1])
    #expect(sandbox.bearerTokens(at: .token) == [:])
    await sandbox.stop()
  }
}

/// A gate that a task passes when it is open or when the task is cancelled.
private final class Gate: Sendable {
  private let isOpen = Locked(false)

  func open() {
    isOpen.withLock { $0 = true }
  }

  func wait() async {
    while !isOpen.withLock(\.self) {
      guard (try? await Task.sleep(for: .milliseconds(1))) != nil else { return }
    }
  }
}
