import Foundation
import OAuthSandbox
import SQBasics
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// Tokens for an assertion that the client's platform signs (RFC 7523, section 2.1), at a sandbox.
@Suite(.timeLimit(.minutes(2))) struct AssertionGrantTests {
  @Test func `a workload gets a token and renews it with a new assertion when it expires`()
    async throws
  {
    let client = try await PlatformFixture()
    let account = try client.exchanging(client.source)
    let token = try await account.requestAccessTokenByAssertion(scope: "demo")
    #expect(token.scopes == ["demo"] && token.refreshToken == nil)
    client.clock.advance(by: 3600)
    #expect(try await account.token().accessToken != token.accessToken)
    let requests = client.sandbox.requests(to: .token)
    #expect(requests.count == 2)
    for request in requests {
      #expect(
        Set(request.form.map(\.name)) == ["grant_type", "assertion", "scope", "client_id"])
      #expect(request.form("grant_type") == JWTAssertion.grantType)
      #expect(request.form("scope") == "demo")
    }
    #expect(Set(requests.compactMap { $0.form("assertion") }).count == 2)
    #expect(client.asked.audiences == requests.map { _ in client.sandbox.issuer.absoluteString })
  }

  @Test func `a second process with the same store renews the token with its own assertion source`()
    async throws
  {
    var client = try await PlatformFixture()
    let folder = try TemporaryFolder()
    client.environment.tokenStore = FileTokenStore(path: folder.file("tokens"))
    try await client.exchanging(client.source).requestAccessTokenByAssertion(scope: "demo")
    let text = try String(contentsOfFile: folder.file("tokens"), encoding: .utf8)
    let sent = try #require(client.sandbox.requests(to: .token).last?.form("assertion"))
    #expect(!text.contains(sent) && text.contains(JWTAssertion.grantType))
    client.clock.advance(by: 3600)
    client.environment.tokenStore = FileTokenStore(path: folder.file("tokens"))
    let bare = try client.exchanging(nil)
    let error = await failure(.invalidConfiguration) { try await bare.token() }
    #expect(error?.message.contains("grantAssertionSource") == true)
    #expect(client.sandbox.requests(to: .token).count == 1, "no other grant is tried")
    let other = try client.exchanging(client.source)
    #expect(try await other.token().scopes == ["demo"])
    #expect(client.sandbox.requests(to: .token).last?.form("grant_type") == JWTAssertion.grantType)
  }

  @Test func `a refused assertion ends the session, and no other grant is tried`() async throws {
    let client = try await PlatformFixture()
    let workload = Locked(PlatformFixture.workload)
    let source = AssertionSource { [client] audience in
      try await client.token(for: audience, workload: workload.withLock(\.self))
    }
    let account = try client.exchanging(source)
    try await account.requestAccessTokenByAssertion(scope: "demo")
    workload.withLock { $0 = "other" }
    client.clock.advance(by: 3600)
    let error = await failure(.invalidGrant) { try await account.token() }
    let requests = client.sandbox.requests(to: .token)
    #expect(requests.count == 2 && account.currentToken == nil)
    let sent = try #require(requests.last?.form("assertion"))
    if let error { #expect(!everyText(of: error).contains(sent)) }
    await failure(.invalidGrant) { try await account.requestAccessTokenByAssertion() }
  }

  @Test func `a failing assertion source does not end the session, and a later renewal succeeds`()
    async throws
  {
    let client = try await PlatformFixture()
    let account = try client.exchanging(client.source)
    let token = try await account.requestAccessTokenByAssertion()
    client.asked.fail()
    client.clock.advance(by: 3600)
    await failure(.clientKeyFailed) { try await account.token() }
    #expect(account.currentToken == token)
    client.asked.fail(false)
    client.clock.advance(by: 61)
    #expect(try await account.token() != token)
  }

  @Test func `assertions can authenticate the client and be exchanged in one request`() async throws
  {
    let client = try await PlatformFixture()
    let account = try client.authenticated(change: { $0.grantAssertionSource = client.source })
    try await account.requestAccessTokenByAssertion()
    let request = try #require(client.sandbox.requests(to: .token).last)
    let (proof, grant) = (request.form("client_assertion"), request.form("assertion"))
    #expect(proof != nil && grant != nil && proof != grant)
  }

  @Test
  func `without an assertion source nothing is sent, and the error names the missing setting`()
    async throws
  {
    let client = try await PlatformFixture()
    let error = await failure(.invalidConfiguration) {
      try await client.exchanging(nil).requestAccessTokenByAssertion()
    }
    #expect(error?.message.contains("grantAssertionSource") == true)
    let idle = try client.exchanging(client.source)
    let advice = await failure(.notAuthorized) { try await idle.token() }
    #expect(advice?.message.contains("requestAccessTokenByAssertion") == true)
    #expect(client.sandbox.requests(to: .token).isEmpty)
  }

  @Test func `the completion handler receives the token`() async throws {
    let client = try await PlatformFixture()
    let account = try client.exchanging(client.source)
    let token = await withCheckedContinuation { continuation in
      account.requestAccessTokenByAssertion(scope: "demo") { continuation.resume(returning: $0) }
    }
    #expect(try token.get().scopes == ["demo"])
  }
}
