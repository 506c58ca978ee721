import Foundation
import OAuthSandbox
import SQBasics
import SequencingOAuthBackend
import Testing

@testable import LoopbackSupport
@testable import SequencingOAuth
@testable import TestSupport

/// Every grant with bound tokens, at a server that demands a nonce.
@Suite("End to end: grants of bound tokens", .timeLimit(.minutes(1))) struct BoundGrantFlowTests {
  /// Checks the account after its grant: requests, refreshes and the key.
  private func expectUsable(
    _ bound: BoundFixture, grants: Int = 2, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let key = try #require(await bound.record?.proofKey, sourceLocation: sourceLocation)
    let requests = bound.sandbox.requests(to: .token)
    #expect(requests.count == grants, sourceLocation: sourceLocation)
    #expect(requests.last?.proof?.nonce != nil, sourceLocation: sourceLocation)
    #expect(bound.module.currentToken?.isBound == true, sourceLocation: sourceLocation)
    #expect(try await bound.send().status == 200, sourceLocation: sourceLocation)
    bound.outdateNonces()
    let refreshes = try await bound.count(.token) { try await bound.oauth.refresh() }
    #expect(refreshes == 2, sourceLocation: sourceLocation)
    #expect(try await bound.send().status == 200, sourceLocation: sourceLocation)
    #expect(await bound.record?.proofKey == key, sourceLocation: sourceLocation)
    let keys = bound.sandbox.requests.compactMap { $0.proof?.keyThumbprint }
    #expect(Set(keys) == [key.thumbprint], sourceLocation: sourceLocation)
    try bound.audit(sourceLocation: sourceLocation)
  }

  @Test(arguments: [BoundFixture.Kind.secret, .key])
  func `a client credentials token is bound, and its refreshes use the same key`(
    kind: BoundFixture.Kind
  ) async throws {
    let bound = try await BoundFixture(kind)
    try await bound.oauth.requestAccessTokenAsClient()
    try await expectUsable(bound)
    // The token that replaces an expired one is bound to the same key.
    bound.clock.advance(by: 7200)
    #expect(try await bound.send().status == 200)
    #expect(Set(bound.sandbox.requests.compactMap { $0.proof?.keyThumbprint }).count == 1)
  }

  @Test(arguments: BoundFixture.Kind.allCases)
  func `a password grant's token is bound, and its refreshes use the same key`(
    kind: BoundFixture.Kind
  ) async throws {
    let bound = try await BoundFixture(kind, change: { $0.allowsPasswordGrant = true })
    try await bound.oauth.requestAccessToken(username: "alice", password: "alice-password")
    try await expectUsable(bound)
  }

  @Test(arguments: BoundFixture.Kind.allCases)
  func `a device code's token is bound, and its refreshes use the same key`(kind: BoundFixture.Kind)
    async throws
  {
    let bound = try await BoundFixture(kind)
    try await bound.module.signInWithDeviceCode(enteredBy: SandboxVisitor(), bound.clock)
    let polls = bound.sandbox.requests(to: .token)
    // The client repeats the refused poll with the nonce at once, not after the polling interval.
    #expect(polls.map { $0.proof?.nonce == nil } == [true, false])
    #expect(polls.first?.date == polls.last?.date)
    try await expectUsable(bound)
  }

  /// The refused request may have used up its assertion, so the next request has a new one.
  @Test func `a JWT assertion's token is bound, and a repeated request has a new assertion`()
    async throws
  {
    let bound = try await BoundFixture(.key)
    try await bound.oauth.requestAccessToken(asserting: JWTAssertion(), scope: "demo")
    let requests = bound.sandbox.requests(to: .token)
    #expect(Set(requests.map { $0.form("assertion") }).count == 2)
    #expect(Set(requests.map { $0.form("client_assertion") }).count == 2)
    try await expectUsable(bound)
  }

  @Test func `an extension grant's token is bound, and its refreshes use the same key`()
    async throws
  {
    var options = BoundFixture.strict
    options.extensionGrants["urn:example:grant"] = { _ in "alice" }
    let bound = try await BoundFixture(.secret, options)
    try await bound.oauth.requestAccessToken(grantType: "urn:example:grant", scope: "demo")
    try await expectUsable(bound)
  }

  @Test(arguments: [BoundFixture.Kind.secret, .key])
  func `an exchanged token is bound to the account's key`(kind: BoundFixture.Kind) async throws {
    let bound = try await BoundFixture(kind)
    try await bound.oauth.requestAccessTokenAsClient()
    bound.outdateNonces()
    let exchanged = try await bound.oauth.exchangeToken(TokenExchange())
    #expect(exchanged.token.isBound && exchanged.authorizationFields == nil)
    let answer = try await bound.oauth.send(
      WebRequest(url: bound.sandbox.url(.me)), with: exchanged)
    #expect(answer.status == 200)
    let keys = bound.sandbox.requests.compactMap { $0.proof?.keyThumbprint }
    #expect(Set(keys) == [try #require(await bound.record?.proofKey).thumbprint])
    try bound.audit()
  }

  @Test func `a service without an account binds exchanged tokens to a new key`() async throws {
    let bound = try await BoundFixture(.secret)
    let subject = TokenExchange.Token.accessToken(
      bound.sandbox.issueTokens(to: BoundFixture.clientID, for: "alice").accessToken)
    let exchanged = try await bound.oauth.exchangeToken(TokenExchange(subject: subject))
    #expect(exchanged.token.isBound)
    let url = bound.sandbox.url(.me)
    #expect(try await bound.oauth.send(WebRequest(url: url), with: exchanged).status == 200)
    #expect(bound.module.currentToken == nil)
    try bound.audit()
  }

  @Test func `an exchanged token of the type N_A may be unbound and is not sent to an API`()
    async throws
  {
    let bound = try await BoundFixture(.secret)
    try await bound.oauth.requestAccessTokenAsClient()
    let exchanged = try await bound.oauth.exchangeToken(TokenExchange(requestedType: .jwt))
    #expect(exchanged.token.tokenType == "N_A" && exchanged.authorizationFields == nil)
    let request = WebRequest(url: bound.sandbox.url(.me))
    await failure(.invalidConfiguration) { try await bound.oauth.send(request, with: exchanged) }
    #expect(bound.sandbox.requests(to: .me).isEmpty)
  }

  @Test func `a Bearer token from a token exchange is refused`() async throws {
    let bound = try await BoundFixture(.secret)
    try await bound.oauth.requestAccessTokenAsClient()
    bound.sandbox.misbehave(at: .token, .dpop(.bearerToken))
    await failure(.tokenNotBound) { try await bound.oauth.exchangeToken(TokenExchange()) }
  }

  @Test func `refreshed accounts of a service have their own keys and share the nonces`()
    async throws
  {
    let bound = try await BoundFixture(.secret, change: { $0.allowsPasswordGrant = true })
    let manager = AccountManager(store: bound.store, environment: bound.oauth.environment)
    let configuration = try bound.module.context.configuration.get()
    let ids = (1...5).map { "account \($0)" }
    for id in ids {
      try await manager.account(configuration, id: id)
        .requestAccessToken(username: "alice", password: "alice-password")
    }
    #expect(bound.sandbox.requests(to: .token).count == 6, "one nonce serves all accounts")
    var keys: [String: ProofKey] = [:]
    for id in ids { keys[id] = await bound.store.load(id)?.proofKey }
    #expect(Set(keys.values.map(\.thumbprint)).count == 5)
    bound.clock.advance(by: 3590)
    bound.sandbox.forgetRequests()
    let keeper = manager.keepFresh(atOnce: 1) { _ in configuration }
    try await eventually { keeper.totals.refreshed == 5 }
    await keeper.stop()
    #expect(bound.sandbox.requests(to: .token).count == 6)
    #expect(bound.sandbox.refreshTokenReuses == 0)
    for id in ids { #expect(await bound.store.load(id)?.proofKey == keys[id]) }
    try bound.audit()
  }
}
