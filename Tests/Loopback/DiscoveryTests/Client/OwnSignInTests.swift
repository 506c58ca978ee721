import OAuthSandbox
import SQBasics
import SequencingOAuth
import Testing

@testable import SequencingOAuthDiscovery
@testable import TestSupport

/// Sign-ins that a request itself needs: which users may complete them, and how many there are.
@Suite(.timeLimit(.minutes(2))) struct OwnSignInTests {
  @Test(arguments: [true, false])
  func `after the session has ended, a sign-in for a request is open to the request's user only`(
    isSame: Bool
  ) async throws {
    let users = try await NamedUsers()
    let client = try users.client(users.manager())
    let module = try await client.signIn()
    users.sandbox.revokeEverything()
    if isSame {
      #expect(try await client.send(users.party.request()).status == 200)
      #expect(module.currentToken?.idToken?.subject == SandboxUser.alice.subject)
    } else {
      users.become(.bob)
      await failure(.idTokenSubject) { try await client.send(users.party.request()) }
      #expect(module.currentToken == nil && users.requests == 1)
    }
    #expect(users.signIns == 2)
    // A sign-in by the app is open to any user.
    users.become(.bob)
    try await client.signIn()
    #expect(module.currentToken?.idToken?.subject == SandboxUser.bob.subject)
    await users.sandbox.stop()
  }

  /// Nobody can compare the users, so the sign-in counts as that of the request's user.
  @Test func `a sign-in for a request of a named user completes it without an ID token too`()
    async throws
  {
    let users = try await NamedUsers()
    let manager = users.manager()
    let module = try await users.client(manager).signIn()
    users.sandbox.revokeEverything()
    let client = try users.client(manager, scope: "profile")
    #expect(try await client.send(users.party.request()).status == 200)
    #expect(module.currentToken?.idToken == nil && users.signIns == 2)
    await users.sandbox.stop()
  }

  @Test func `a request is not sent if another user signs in after its own user got access`()
    async throws
  {
    let users = try await NamedUsers()
    let client = try users.client(users.manager())
    let module = try await client.signIn()
    let access = try #require(try await client.access())
    let owner = Requester(of: module)
    users.become(.bob)
    try await client.signIn()
    await failure(.sessionReplaced) {
      try await client.send(users.party.request(), by: access, for: owner, signIns: 1)
    }
    #expect(users.requests == 0 && users.signIns == 2)
    await users.sandbox.stop()
  }

  /// The session has ended in between, so only the series of sign-ins shows that the user is the
  /// same.
  @Test func `a request goes on if another request of its user has led to a sign-in just before`()
    async throws
  {
    let party = try Party()
    party.first.change { $0.issuesRefreshTokens = true }
    let client = try await party.works()
    let access = try #require(try await client.access())
    let owner = Requester(of: access.module)
    party.first.change {
      $0.replies["/token"] = { visit in
        visit.value("grant_type") == "refresh_token"
          ? .json(["error": "invalid_grant"], status: 400) : nil
      }
    }
    party.first.revoke(try #require(access.module.currentToken).accessToken)
    try await party.works(client)
    let late = try await client.send(party.request(), by: access, for: owner, signIns: 0)
    #expect(late.status == 200 && party.authorized.count == 2)
  }

  /// A client of another program cannot be used here, so the user signs in as this program's.
  @Test func `a sign-in that replaces the account of an unknown client counts for the request`()
    async throws
  {
    let users = try await NamedUsers()
    let client = try users.client(users.manager())
    try await client.signIn()
    let other = try users.client(users.manager(), in: MemoryRegistrationStore())
    try await other.signIn()
    users.party.resource.change { $0.replies["/mcp"] = { _ in nil } }
    await failure(.invalidToken) { try await client.send(users.party.request()) }
    #expect(users.signIns == 3)
    await users.sandbox.stop()
  }
}
