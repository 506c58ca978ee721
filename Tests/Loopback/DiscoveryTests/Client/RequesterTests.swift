import Foundation
import OAuthSandbox
import SQBasics
import SQLoopback
import SequencingOAuth
import Testing

@testable import SequencingOAuthDiscovery
@testable import TestSupport

/// Requests whose user has left: another user signs in, or the app signs the user out.
@Suite(.timeLimit(.minutes(2))) struct RequesterTests {
  /// What happens to the account between a request and the resource's refusal of its token.
  enum Change: CaseIterable { case signOut, revocation, refusal, none }

  @Test(arguments: Change.allCases)
  func `a request of one user is not sent again with another user's token`(
    change: Change
  ) async throws {
    let users = try await NamedUsers()
    let client = try users.client(users.manager())
    let module = try await client.signIn()
    let sent = try await users.waitingRequest(client)
    switch change {
    case .signOut: try await module.signOut()
    case .revocation: try await module.revoke()
    case .refusal, .none: break
    }
    users.sandbox.revokeEverything()
    if change == .refusal { await failure(.invalidGrant) { try await module.refresh() } }
    users.become(.bob)
    try await client.signIn()
    users.resourceGate.open()
    await failure(.invalidToken) { try await sent.value }
    #expect(users.requests == 1 && users.signIns == 2)
    #expect(module.currentToken?.idToken?.subject == SandboxUser.bob.subject)
    #expect(try await client.send(users.party.request()).status == 200)
    await users.sandbox.stop()
  }

  /// Without ID tokens nobody can say whether the user is the same, so the sign-in decides.
  @Test func `without ID tokens, a request is not sent again with the token of a later sign-in`()
    async throws
  {
    let party = try Party()
    let client = try party.client()
    try await client.signIn()
    let gate = Gate(isOpen: false)
    party.resource.change {
      $0.replies["/mcp"] = { _ in
        await gate.pass()
        return nil
      }
    }
    let request = try party.request()
    let sent = begin { try await client.send(request).status }
    try await gate.isHolding()
    party.first.revoke(try #require(try await client.account()?.currentToken).accessToken)
    try await client.signIn()
    gate.open()
    await failure(.invalidToken) { try await sent.value }
    #expect(party.visits("/mcp").count == 1 && party.authorized.count == 2)
    try await party.works(client)
  }

  /// The later request may be sent by another client of the same account.
  @Test(arguments: [true, false])
  func `without ID tokens, a sign-in for one request counts for all requests of its user`(
    isOneClient: Bool
  ) async throws {
    let party = try Party()
    let client = try party.client()
    try await client.signIn()
    let token = try #require(try await client.account()?.currentToken).accessToken
    party.first.revoke(token)
    let gate = Gate(isOpen: false)
    party.resource.change {
      $0.replies["/mcp"] = { visit in
        if visit.request.method == "PUT", visit.token == token { await gate.pass() }
        return nil
      }
    }
    let late = try party.request("PUT")
    let sent = begin { try await client.send(late).status }
    try await gate.isHolding()
    try await party.works(isOneClient ? client : party.client())
    gate.open()
    #expect(try await sent.value == 200)
    #expect(party.authorized.count == 2)
  }

  @Test(arguments: [true, false])
  func `another process's sign-in completes a refused request only if its user is the same`(
    isSame: Bool
  ) async throws {
    let users = try await NamedUsers()
    let clients = try [users.client(users.manager()), users.client(users.manager())]
    try await clients[0].signIn()
    let sent = try await users.waitingRequest(clients[0])
    users.sandbox.revokeEverything()
    if !isSame { users.become(.bob) }
    try await clients[1].signIn()
    users.resourceGate.open()
    if isSame {
      #expect(try await sent.value == 200)
    } else {
      await failure(.invalidToken) { try await sent.value }
      #expect(users.requests == 1)
    }
    #expect(users.signIns == 2)
    await users.sandbox.stop()
  }

  @Test func `a named user's request goes on as the client that another process has registered`()
    async throws
  {
    let users = try await NamedUsers()
    let clients = try [users.client(users.manager()), users.client(users.manager())]
    try await clients[0].signIn()
    #expect(try await clients[1].account()?.currentToken != nil)
    let issuer = users.sandbox.issuer.absoluteString
    users.sandbox.forgetClient(
      try #require(users.party.registrations.registration(at: issuer)).clientID)
    users.sandbox.expireAccessTokens()
    for client in clients.reversed() {
      #expect(try await client.send(users.party.request()).status == 200)
    }
    #expect(users.signIns == 2)
    await users.sandbox.stop()
  }

  // MARK: Sign-ins of the app

  @Test func `a refused request does not join a sign-in of the app by another user`() async throws {
    let users = try await NamedUsers()
    let client = try users.client(users.manager())
    try await client.signIn()
    users.sandbox.revokeEverything()
    users.become(.bob)
    users.browserGate.close()
    let signIn = begin { try await client.signIn() }
    try await users.browserGate.isHolding()
    let request = try users.party.request()
    let sent = begin { try await client.send(request).status }
    try await eventually("the token is refused") { users.requests == 1 }
    users.browserGate.open()
    let module = try await signIn.value
    // The refresh token was refused too, unless the other user's sign-in came first.
    let error = await failure { try await sent.value }
    #expect(error?.code == .invalidToken || error?.code == .invalidGrant)
    #expect(users.requests == 1 && users.signIns == 2)
    #expect(module.currentToken?.idToken?.subject == SandboxUser.bob.subject)
    await users.sandbox.stop()
  }

  @Test func `a sign-in of the app does not fail because a waiting request needs another user`()
    async throws
  {
    let users = try await NamedUsers()
    let client = try users.client(users.manager())
    let module = try await client.signIn()
    // The resource refuses all tokens of the first user, and the session goes on.
    let first = try #require(module.currentToken?.idToken?.subject)
    users.party.resource.change {
      $0.replies["/mcp"] = { _ in
        module.currentToken?.idToken?.subject == first ? nil : .text("hello", type: "text/plain")
      }
    }
    users.become(.bob)
    users.browserGate.close()
    let request = try users.party.request()
    let sent = begin { try await client.send(request).status }
    try await users.browserGate.isHolding()
    let signIn = begin { try await client.signIn() }
    users.browserGate.open()
    await failure(.idTokenSubject) { try await sent.value }
    #expect(
      try await signIn.value.currentToken?.idToken?.subject == SandboxUser.bob.subject)
    #expect(users.signIns == 3)
    await users.sandbox.stop()
  }

  /// What a sign-in of the app may find running, and whether it is enough.
  @Test func `a sign-in of the app joins another search only if a user signed in for it`()
    async throws
  {
    let party = try Party()
    let access = try #require(
      try await party.works().access(), "the client has found its account")
    let found = ResourceClient.Gained(
      demand: Demand(challenges: []), outcome: .success(access), hasSignedIn: false)
    let signedIn = ResourceClient.Gained(
      demand: Demand(challenges: []), outcome: .success(access), hasSignedIn: true)
    #expect(!Demand.signIn.isMet(by: found) && Demand.signIn.isMet(by: signedIn))
    #expect(Demand(challenges: []).isMet(by: found))
  }

  // MARK: Sign-outs

  @Test(arguments: [true, false])
  func `no browser opens for a request whose user has signed out meanwhile`(
    revokes: Bool
  ) async throws {
    let users = try await NamedUsers()
    let client = try users.client(users.manager())
    let module = try await client.signIn()
    let sent = try await users.waitingRequest(client)
    if revokes { try await module.revoke() } else { try await module.signOut() }
    users.sandbox.revokeEverything()
    users.resourceGate.open()
    await failure(.invalidToken) { try await sent.value }
    #expect(users.requests == 1 && users.signIns == 1)
    await users.sandbox.stop()
  }

  @Test func `no browser opens if the user signs out while a request waits for a refresh`()
    async throws
  {
    let users = try await NamedUsers()
    let client = try users.client(users.manager())
    let module = try await client.signIn()
    users.sandbox.expireAccessTokens()
    let gate = Gate(isOpen: false)
    users.sandbox.misbehave(at: .token, .hold(until: { await gate.opened() }))
    let request = try users.party.request()
    let sent = begin { try await client.send(request).status }
    try await gate.isHolding()
    // The session ends at once, and the store's change may wait for the refresh.
    let signOut = begin { try await module.signOut() }
    gate.open()
    await failure(.invalidToken) { try await sent.value }
    try await signOut.value
    #expect(users.signIns == 1)
    await users.sandbox.stop()
  }

  // MARK: Step-ups

  @Test func `a step-up does not complete a request with the wider token of another user`()
    async throws
  {
    let users = try await NamedUsers()
    let manager = users.manager()
    let client = try users.client(manager)
    let module = try await client.signIn()
    let alice = try #require(module.currentToken).accessToken
    let gate = Gate(isOpen: false)
    users.party.resource.change {
      $0.replies["/mcp"] = { visit in
        guard visit.token == alice else { return .text("hello", type: "text/plain") }
        await gate.pass()
        let field = #"Bearer error="insufficient_scope", scope="profile""#
        return .status(403, [("WWW-Authenticate", field)])
      }
    }
    let request = try users.party.request()
    let sent = begin { try await client.send(request).status }
    try await gate.isHolding()
    users.become(.bob)
    try await users.client(manager, scope: "openid profile").signIn()
    gate.open()
    await failure(.insufficientScope) { try await sent.value }
    #expect(users.requests == 1 && users.signIns == 2)
    #expect(module.currentToken?.scopes.contains("profile") == true)
    await users.sandbox.stop()
  }

  /// The server has ended the session, so the person at the browser was asked for the first request.
  @Test func `without ID tokens, a step-up goes on after a sign-in for its user's other request`()
    async throws
  {
    let party = try Party()
    party.first.change { $0.issuesRefreshTokens = true }
    let client = try party.client()
    let token = try #require(try await client.signIn().currentToken).accessToken
    let gate = Gate(isOpen: false)
    party.resource.change {
      $0.replies["/mcp"] = { visit in
        guard visit.request.method == "PUT", visit.token == token else { return nil }
        await gate.pass()
        let field = #"Bearer error="insufficient_scope", scope="b""#
        return .status(403, [("WWW-Authenticate", field)])
      }
    }
    let late = try party.request("PUT")
    let sent = begin { try await client.send(late).status }
    try await gate.isHolding()
    party.first.revoke(token)
    party.first.state.withLock { $0.refreshTokens = [:] }
    #expect(try await client.send(party.request()).status == 200)
    gate.open()
    #expect(try await sent.value == 200)
    #expect(party.authorized.count == 3)
  }

  // MARK: Another server

  /// The new server has other names for its users, so nobody can say who has signed in there.
  @Test func `at a new server the user signs in again, and a request of a named user is not sent`()
    async throws
  {
    let users = try await NamedUsers()
    let second = try await SandboxServer.start()
    let client = try users.client(users.manager())
    let module = try await client.signIn()
    users.party.resource.change {
      $0.issuers = [second.issuer.absoluteString]
      $0.replies["/mcp"] = { visit in
        visit.token.map(second.isActive) == true ? .text("hello", type: "text/plain") : nil
      }
    }
    await failure(.invalidToken) { try await client.send(users.party.request()) }
    #expect(users.signIns == 2)
    #expect(module.currentToken?.idToken?.issuer == second.issuer.absoluteString)
    #expect(try await client.send(users.party.request()).status == 200)
    #expect(users.signIns == 2)
    await users.sandbox.stop()
    await second.stop()
  }
}
