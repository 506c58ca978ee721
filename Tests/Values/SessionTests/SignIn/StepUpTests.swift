import Foundation
import SQBasics
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// Sign-ins that a resource server demands although the account has a token.
///
/// - SeeAlso: RFC 6750, section 3.1; RFC 9470
@Suite(.timeLimit(.minutes(1))) struct StepUpTests {
  private let world: SessionFixture

  init() async throws {
    world = try SessionFixture()
    try await world.restored()
  }

  /// Makes the API refuse with a challenge, and returns the error of a request.
  private func refusal(
    _ challenge: String, status: Int = 403, path: String = "/files"
  ) async throws -> SQOAuthError {
    world.fixture.http.answer { [server = world.server] request in
      request.url.path() == "/token"
        ? try await server.answer(request) : TokenServer.challenge(challenge, status: status)
    }
    return try #require(
      await failure { try await world.oauth.send(WebRequest(url: "https://id.example\(path)")) })
  }

  private var asked: [Set<String>] {
    world.fixture.opened.map {
      Set(($0.parameters["scope"] ?? "").split(separator: " ").map(String.init))
    }
  }

  @Test func `the sign-in requests the demanded scopes together with the previous ones`()
    async throws
  {
    let error = try await refusal(#"Bearer error="insufficient_scope", scope="write read""#)
    #expect(error.code == .insufficientScope)
    let token = try await world.oauth.requestAccess(answering: error)
    #expect(token.accessToken == "T2" && asked == [["demo", "read", "write"]])
  }

  @Test func `the sign-in requests the acr_values and the max_age of the challenge`() async throws {
    let error = try await refusal(
      #"Bearer error="insufficient_user_authentication", acr_values="gold silver", max_age="60""#,
      status: 401)
    #expect(error.code == .insufficientUserAuthentication && error.status == 401)
    // A refresh cannot help, so none was tried.
    #expect(world.refreshes == [])
    try await world.oauth.requestAccess(answering: error)
    let page = try #require(world.fixture.opened.first)
    #expect(page.parameters["acr_values"] == "gold silver" && page.parameters["max_age"] == "60")
  }

  /// RFC 9470, section 3: `acr_values` and `max_age` are optional.
  @Test func `a challenge without acr_values and max_age causes a sign-in with max_age=0`()
    async throws
  {
    let error = try await refusal(
      #"Bearer error="insufficient_user_authentication""#, status: 401)
    try await world.oauth.requestAccess(answering: error)
    #expect(world.fixture.opened.first?.parameters["max_age"] == "0" && asked == [["demo"]])
  }

  @Test(arguments: [
    (#"Bearer error="insufficient_scope""#, 403),
    (#"Bearer error="insufficient_scope", scope="""#, 403),
  ])
  func `if an insufficient_scope challenge has no scope, the error is thrown and no sign-in starts`(
    challenge: String, status: Int
  ) async throws {
    let error = try await refusal(challenge, status: status)
    let thrown = await failure(error.code) { try await world.oauth.requestAccess(answering: error) }
    #expect(thrown?.challenge == error.challenge && world.fixture.opened.isEmpty)
  }

  @Test
  func `the same challenge for the same request causes at most three sign-ins in ten minutes`()
    async throws
  {
    let challenge = #"Bearer error="insufficient_scope", scope="never""#
    for _ in 0..<3 {
      try await world.oauth.requestAccess(answering: refusal(challenge))
    }
    let error = try await refusal(challenge)
    let thrown = await failure(.insufficientScope) {
      try await world.oauth.requestAccess(answering: error)
    }
    #expect(thrown?.message.contains("3 sign-ins") == true)
    #expect(world.fixture.opened.count == 3)
    // Each request and each challenge has its own limit of three sign-ins in ten minutes.
    try await world.oauth.requestAccess(answering: refusal(challenge, path: "/other"))
    try await world.oauth.requestAccess(
      answering: refusal(#"Bearer error="insufficient_scope", scope="other""#))
    world.clock.advance(by: 601)
    try await world.oauth.requestAccess(answering: refusal(challenge))
    #expect(world.fixture.opened.count == 6)
  }

  @Test func `a second call for the same error uses the token of the first call's sign-in`()
    async throws
  {
    let error = try await refusal(#"Bearer error="insufficient_scope", scope="demo""#)
    try await world.oauth.requestAccess(answering: error)
    let again = try await world.oauth.requestAccess(answering: error)
    #expect(again.accessToken == "T2" && world.fixture.opened.count == 1)
  }

  /// The challenge of RFC 9470 demands a login, and a refresh is not a login.
  @Test func `a refreshed token does not meet a demand for a login, and callers share a sign-in`()
    async throws
  {
    let oauth = world.oauth
    let error = try await refusal(
      #"Bearer error="insufficient_user_authentication", acr_values="gold""#, status: 401)
    #expect(try await oauth.refresh().accessToken == "T2")
    let callers = (0..<8).map { _ in begin { try await oauth.requestAccess(answering: error) } }
    for caller in callers { #expect(try await caller.value.accessToken == "T3") }
    #expect(world.fixture.opened.map { $0.parameters["acr_values"] } == ["gold"])
    // The token of the sign-in, and its refreshed token, are newer than the refused one.
    #expect(try await oauth.requestAccess(answering: error).accessToken == "T3")
    #expect(try await oauth.refresh().accessToken == "T4")
    #expect(try await oauth.requestAccess(answering: error).accessToken == "T4")
    #expect(world.fixture.opened.count == 1)
  }

  @Test func `a refreshed token with the demanded scope is used without a sign-in`() async throws {
    let error = try await refusal(#"Bearer error="insufficient_scope", scope="demo""#)
    try await world.oauth.refresh()
    #expect(try await world.oauth.requestAccess(answering: error).accessToken == "T2")
    #expect(world.fixture.opened.isEmpty)
  }

  /// How the user of a refused request stops being the account's user.
  enum Change: CaseIterable { case signIn, signOut, signOutAndIn }

  /// Another token may meet the demand, or only another sign-in may.
  @Test(arguments: Change.allCases, ["demo", "write"])
  func `the demand of a request ends with the session of its user`(
    change: Change, scope: String
  ) async throws {
    let error = try await refusal(#"Bearer error="insufficient_scope", scope="\#(scope)""#)
    if change != .signIn { try await world.oauth.signOut() }
    if change != .signOut { try await world.oauth.signIn() }
    let (count, memory) = (world.fixture.opened.count, world.memory)
    let thrown = await failure(.sessionReplaced) {
      try await world.oauth.requestAccess(answering: error)
    }
    #expect(thrown?.requiresSignIn == false && thrown?.message.contains("\"default\"") == true)
    #expect(world.fixture.opened.count == count && world.memory == memory)
  }

  @Test(arguments: [true, false])
  func `a user who signs in during the refresh does not answer another user's request`(
    isRefused: Bool
  ) async throws {
    let error: SQOAuthError
    if isRefused {
      error = try await refusal(#"Bearer error="invalid_token""#, status: 401)
    } else {
      world.clock.advance(by: 3600)
      world.server.next(ScriptedTransport.json(#"{"error":"access_denied"}"#, status: 400))
      let url = "https://id.example/files"
      error = try #require(
        await failure(.accessDenied) { try await world.oauth.send(WebRequest(url: url)) })
      #expect(error.requiresSignIn)
    }
    world.clock.advance(by: 3600)
    world.server.gate.close()
    let oauth = world.oauth
    let caller = begin { try await oauth.requestAccess(answering: error) }
    try await world.server.gate.isHolding()
    try await oauth.signIn()
    await failure(.sessionReplaced) { try await caller.value }
    world.server.gate.open()
    #expect(world.fixture.opened.count == 1)
  }

  /// Without an ID token, nobody can tell the users apart.
  @Test func `after the server has ended the session, the user who is asked answers the request`()
    async throws
  {
    world.clock.advance(by: 3600)
    world.server.next(SessionEndTests.invalidGrant)
    let url = "https://id.example/files"
    let error = try #require(
      await failure(.invalidGrant) { try await world.oauth.send(WebRequest(url: url)) })
    #expect(try await world.oauth.requestAccess(answering: error).accessToken == "T2")
    #expect(world.fixture.opened.count == 1)
  }

  @Test func `a demand is met by its own sign-in even if the token is refreshed at once`()
    async throws
  {
    let oauth = world.oauth
    let error = try await refusal(#"Bearer error="insufficient_scope", scope="write""#)
    world.server.next(SessionEndTests.invalidGrant)
    await failure(.invalidGrant) { try await oauth.refresh() }
    world.server.signInGate.close()
    let executor = HoldingExecutor()
    let caller = Task(executorPreference: executor) {
      try await oauth.requestAccess(answering: error)
    }
    try await world.server.signInGate.isHolding()
    try await executor.rests()
    executor.hold()
    world.server.signInGate.open()
    try await eventually { world.memory == "T2 R2" }
    #expect(try await oauth.refresh().accessToken == "T3")
    executor.letGo()
    #expect(try await caller.value.accessToken == "T2")
  }

  // MARK: Tokens that are made of the account's

  /// How an app gets a token that is not the account's own.
  enum Derivation: CaseIterable, Sendable { case narrowing, exchange }

  /// Makes a token of the account's, lets the API refuse it with a challenge, and returns the error.
  private func refusal(
    ofTokenBy derivation: Derivation, _ challenge: String, status: Int
  ) async throws -> SQOAuthError {
    let token: ExchangedToken
    switch derivation {
    case .narrowing: token = try await world.oauth.narrowedToken(scope: "demo")
    case .exchange:
      let type = "urn:ietf:params:oauth:token-type:access_token"
      world.server.change { $0.more = #""issued_token_type":"\#(type)""# }
      token = try await world.oauth.exchangeToken(TokenExchange())
    }
    world.api { _ in TokenServer.challenge(challenge, status: status) }
    let request = try WebRequest(url: "https://id.example/files")
    return try #require(await failure { try await world.oauth.send(request, with: token) })
  }

  private static let login =
    #"Bearer error="insufficient_user_authentication", acr_values="gold""#

  @Test(arguments: Derivation.allCases)
  func `a login that an API demands for a token made of the account's is asked for`(
    derivation: Derivation
  ) async throws {
    let error = try await refusal(ofTokenBy: derivation, Self.login, status: 401)
    let token = try await world.oauth.requestAccess(answering: error)
    #expect(world.fixture.opened.map { $0.parameters["acr_values"] } == ["gold"])
    // The account's new token comes from a later login than the refused token.
    #expect(try await world.oauth.requestAccess(answering: error) == token)
    #expect(world.fixture.opened.count == 1)
  }

  @Test(arguments: Derivation.allCases, ["demo", "write"])
  func `a demand for a token made of the account's ends with the session of its user`(
    derivation: Derivation, scope: String
  ) async throws {
    let challenge = #"Bearer error="insufficient_scope", scope="\#(scope)""#
    let error = try await refusal(ofTokenBy: derivation, challenge, status: 403)
    try await world.oauth.signIn()
    await failure(.sessionReplaced) { try await world.oauth.requestAccess(answering: error) }
    #expect(world.fixture.opened.count == 1)
  }

  @Test func `an account with more scopes than a narrowed token has needs no sign-in`() async throws
  {
    let challenge = #"Bearer error="insufficient_scope", scope="demo""#
    let error = try await refusal(ofTokenBy: .narrowing, challenge, status: 403)
    #expect(try await world.oauth.requestAccess(answering: error).accessToken == "T1")
    #expect(world.fixture.opened.isEmpty)
  }

  // MARK: Permissions

  private static let payment = #"{"type":"payment","amount":"5"}"#

  /// Signs in with a permission (RFC 9396), and returns the error of a request that needs more.
  private func refusalOfPayer() async throws -> SQOAuthError {
    world.server.change { $0.more = #""authorization_details":[\#(Self.payment)]"# }
    try await world.oauth.signIn()
    return try await refusal(#"Bearer error="insufficient_scope", scope="write""#)
  }

  @Test func `the sign-in asks for the permissions that the account has`() async throws {
    let error = try await refusalOfPayer()
    try await world.oauth.requestAccess(answering: error)
    let page = try #require(world.fixture.opened.last)
    let asked = try JSONDecoder().decode(
      JSONValue.self, from: Data((page.parameters["authorization_details"] ?? "").utf8))
    #expect(asked == [["type": "payment", "amount": "5"]])
  }

  @Test func `permissions in the options replace those of the account`() async throws {
    let error = try await refusalOfPayer()
    var options = SignInOptions()
    options.authorizationDetails = [AuthorizationDetail(type: "account")]
    try await world.oauth.requestAccess(answering: error, with: options)
    let page = try #require(world.fixture.opened.last)
    #expect(page.parameters["authorization_details"] == #"[{"type":"account"}]"#)
  }

  @Test func `an empty parameter in the options asks for no permissions`() async throws {
    let error = try await refusalOfPayer()
    var options = SignInOptions()
    options.parameters["authorization_details"] = ""
    try await world.oauth.requestAccess(answering: error, with: options)
    let page = try #require(world.fixture.opened.last)
    #expect(page.parameters["authorization_details"] == nil)
  }

  // MARK: Clients without a user

  /// A client that acts in its own name by its configuration, or only by a grant that it repeats.
  @Test(arguments: [true, false])
  func `a client that acts in its own name gets the error itself, and no page opens`(
    isConfigured: Bool
  ) async throws {
    let world = try SessionFixture(change: { $0.usesClientCredentials = isConfigured })
    try await world.oauth.requestAccessTokenAsClient()
    world.api { _ in
      TokenServer.challenge(#"Bearer error="insufficient_scope", scope="write""#, status: 403)
    }
    for count in 1...5 {
      let error = try #require(
        await failure { try await world.oauth.send(.get("https://id.example/files")) })
      let thrown = await failure(.insufficientScope) {
        try await world.oauth.requestAccess(answering: error)
      }
      #expect(thrown?.challenge?.scope == "write" && thrown?.message == error.message)
      #expect(try await world.oauth.refresh().accessToken == "T\(count + 1)")
    }
    #expect(world.fixture.opened.isEmpty)
  }

  @Test func `a user who cancels the sign-in keeps the old token`() async throws {
    let world = try SessionFixture(browser: { _, _ in
      throw SQOAuthError(.cancelled, "the user closed the window")
    })
    try await world.restored()
    world.fixture.http.answer { _ in
      TokenServer.challenge(#"Bearer error="insufficient_scope", scope="a""#, status: 403)
    }
    let error = try #require(
      await failure { try await world.oauth.send(WebRequest(url: "https://id.example/files")) })
    await failure(.cancelled) { try await world.oauth.requestAccess(answering: error) }
    #expect(world.memory == "T1 R1")
  }
}
