import FoundationEssentials
import OAuthSandbox
import Testing

@testable import SQBasics
@testable import SequencingOAuth
@testable import TestSupport

/// Whose token an account at a second server gets, and with which token of the identity provider.
@Suite(.timeLimit(.minutes(2))) struct IdentityGrantUserTests {
  private typealias World = IdentityGrantWorld

  @Test(arguments: [TokenType.idToken, .refreshToken])
  func `a renewal fails while another user is signed in at the identity provider`(
    subject: TokenType
  ) async throws {
    let world = try await World()
    let token = try await world.account(subject).requestAccessTokenByAssertion(scope: "demo")
    try await world.signIn(.bob)
    world.clock.advance(by: 3600)
    let account = try world.account(subject)
    let error = await failure(.clientKeyFailed) { try await account.token() }
    #expect((error?.cause as? SQOAuthError)?.code == .idTokenSubject)
    #expect(world.grants.count == 1 && account.currentToken == token, "the account stays")
    try await world.signIn(.alice)
    world.clock.advance(by: 61)
    #expect(try await account.token() != token)
    // Only the app can give the account to the other user.
    try await world.signIn(.bob)
    let owner = account.session.owner
    try await account.requestAccessTokenByAssertion(scope: "demo")
    #expect(!owner.permits(account.session.owner))
    #expect(
      world.chat.latestRefreshToken(for: SandboxUser.bob.name, client: "wiki-at-chat") != nil)
    world.clock.advance(by: 3600)
    _ = try await account.token()
    #expect(world.grants.count == 4)
  }

  @Test func `a repeated grant of the same user lets a waiting request continue`() async throws {
    let world = try await World()
    let account = try world.account()
    try await account.requestAccessTokenByAssertion(scope: "demo")
    let owner = account.session.owner
    try await account.requestAccessTokenByAssertion(scope: "demo")
    #expect(owner.permits(account.session.owner))
  }

  @Test func `an account that an older version stored learns its user at the next renewal`()
    async throws
  {
    let world = try await World()
    let token = try await world.account().requestAccessTokenByAssertion(scope: "demo")
    let issuer = world.chat.issuer.absoluteString
    await world.store.save(
      AccountRecord(
        id: "default", clientID: "wiki-at-chat", issuer: issuer, grant: .jwtBearer(scope: "demo"),
        token: token))
    world.clock.advance(by: 3600)
    _ = try await world.account().token()
    try await world.signIn(.bob)
    world.clock.advance(by: 3600)
    await failure(.clientKeyFailed) { try await world.account().token() }
    #expect(world.grants.count == 2)
  }

  // MARK: The refresh token as the subject

  @Test func `of a refresh token that another process has replaced, the new one is exchanged`()
    async throws
  {
    let world = try await World()
    let old = try #require(world.user.currentToken?.refreshToken)
    let other = AuthorizationModule(
      configuration: try #require(world.user.configuration), environment: world.user.environment)
    try await other.refresh()
    try await world.account(.refreshToken).requestAccessTokenByAssertion(scope: "demo")
    let sent = world.exchanges.map { $0.form("subject_token") }
    #expect(sent == [other.currentToken?.refreshToken] && sent != [old])
    #expect(world.provider.refreshTokenReuses == 0)
  }

  @Test func `the exchange of a refresh token waits for a refresh that is under way`()
    async throws
  {
    let world = try await World()
    let old = try #require(world.user.currentToken?.refreshToken)
    let gate = Gate(isOpen: false)
    world.provider.misbehave(at: .token, .hold(until: { await gate.opened() }))
    let refresh = begin { [user = world.user] in try await user.refresh() }
    try await gate.isHolding()
    let account = try world.account(.refreshToken)
    let grant = begin { try await account.requestAccessTokenByAssertion(scope: "demo") }
    let change = try #require(world.user.session.decide(\.changeUnderWay))
    try await eventually("the exchange waits, as the caller of the refresh does") {
      change.work.outcome.state.withLock { $0.waiters.count } == 2
    }
    #expect(world.exchanges.isEmpty)
    gate.open()
    let next = try await refresh.value.refreshToken
    _ = try await grant.value
    #expect(world.exchanges.map { $0.form("subject_token") } == [next] && next != old)
    #expect(world.user.currentToken?.refreshToken == next, "an exchange changes no token")
    #expect(try await world.user.refresh().refreshToken != next)
    #expect(world.provider.refreshTokenReuses == 0)
  }

  @Test(arguments: ["access_denied", "invalid_grant", "invalid_request"])
  func `a refused exchange of the refresh token leaves the account at the provider as it is`(
    code: String
  ) async throws {
    let world = try await World()
    let before = world.user.currentToken
    world.provider.misbehave(at: .token, .error(code))
    let account = try world.account(.refreshToken)
    let error = await failure(.clientKeyFailed) {
      try await account.requestAccessTokenByAssertion(scope: "demo")
    }
    #expect((error?.cause as? SQOAuthError)?.code.rawValue == code)
    #expect(world.user.currentToken == before && world.grants.isEmpty)
    try await account.requestAccessTokenByAssertion(scope: "demo")
    #expect(world.exchanges.count == 2)
  }
}
