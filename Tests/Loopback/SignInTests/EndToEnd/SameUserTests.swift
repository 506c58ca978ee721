import Foundation
import OAuthSandbox
import SequencingOAuthPipes
import Testing

@testable import LoopbackSupport
@testable import SequencingOAuth
@testable import TestSupport

/// Sign-ins that only the user of the account may complete.
@Suite(.timeLimit(.minutes(1))) struct SameUserTests {
  private func signedIn(
    _ change: (inout Provider) -> Void = { _ in }
  ) async throws -> SandboxFixture {
    let fixture = try await SandboxFixture()
    var provider = Provider.issuer(fixture.sandbox.issuer.absoluteString)
    change(&provider)
    fixture.oauth.register(
      try ClientConfiguration(
        clientID: "sandbox-app", redirectURI: "http://127.0.0.1/callback", scope: "openid profile",
        provider: provider))
    try await fixture.oauth.signIn()
    return fixture
  }

  /// Lets another user sign in from now on.
  private func change(_ fixture: SandboxFixture, to user: SandboxUser) {
    fixture.oauth.environment.userAgent = CustomUserAgent { url in
      _ = try await SandboxVisitor(user: user).visit(url)
    }
  }

  @Test func `a step-up sign-in by another user is refused, and that user's tokens are revoked`()
    async throws
  {
    let fixture = try await signedIn()
    let alice = try #require(fixture.oauth.result.token)
    fixture.sandbox.misbehave(
      at: .me, .bearerError("insufficient_scope", scope: "demo"))
    let request = WebRequest(url: fixture.sandbox.url(.me))
    let demand = try #require(
      await failure(.insufficientScope) { try await fixture.oauth.send(request) })
    change(fixture, to: .bob)
    let error = await failure(.idTokenSubject) {
      try await fixture.oauth.module.requestAccess(answering: demand)
    }
    #expect(error?.message.contains("another user signed in") == true)
    #expect(fixture.oauth.result.token?.accessToken == alice.accessToken)
    try await fixture.oauth.module.flush()
    #expect(fixture.sandbox.isActive(alice.accessToken))
    #expect(fixture.sandbox.requests(to: .revocation).count >= 1)
    #expect(
      fixture.sandbox.latestRefreshToken(for: SandboxUser.bob.name).map(fixture.sandbox.isActive)
        != true)

    change(fixture, to: .alice)
    let token = try await fixture.oauth.module.requestAccess(answering: demand)
    #expect(token.scopes.contains("demo") && token.idToken?.subject == alice.idToken?.subject)
    await fixture.sandbox.stop()
  }

  /// Keycloak's logout would end the other user's sessions in all apps.
  @Test func `the tokens of a refused user stay valid if a revocation would end more than them`()
    async throws
  {
    let fixture = try await signedIn { $0.revocationStyle = .keycloakLogout }
    change(fixture, to: .bob)
    var options = SignInOptions()
    options.requiresSameUser = true
    await failure(.idTokenSubject) { try await fixture.oauth.signIn(with: options) }
    try await fixture.oauth.module.flush()
    #expect(fixture.sandbox.requests(to: .revocation).isEmpty)
    #expect(
      fixture.sandbox.latestRefreshToken(for: SandboxUser.bob.name).map(fixture.sandbox.isActive)
        == true)
    await fixture.sandbox.stop()
  }

  /// Returns a fixture whose account's refresh token the server refuses.
  private func ended() async throws -> SandboxFixture {
    let fixture = try await signedIn()
    fixture.sandbox.revokeEverything()
    fixture.oauth.module.invalidateAccessToken()
    return fixture
  }

  @Test func `after the server has ended the session, another user does not answer a request`()
    async throws
  {
    let fixture = try await ended()
    let module = fixture.oauth.module
    let request = WebRequest(url: fixture.sandbox.url(.me))
    let error = try #require(await failure(.invalidGrant) { try await module.send(request) })
    change(fixture, to: .bob)
    await failure(.sessionReplaced) { try await module.requestAccess(answering: error) }
    #expect(fixture.oauth.result.token?.idToken?.subject == SandboxUser.bob.subject)
    await fixture.sandbox.stop()
  }

  @Test(arguments: [SandboxUser.alice, .bob])
  func `a pipe's request is sent after a sign-in only if the same user signed in`(
    user: SandboxUser
  ) async throws {
    let fixture = try await ended()
    let module = fixture.oauth.module
    var configuration = PipeConfiguration()
    configuration.endpoint = "api/me"
    let pipe = try Pipeline(baseURL: fixture.sandbox.issuer, module: module)
      .add("me", configuration)
    change(fixture, to: user)
    if user.name == SandboxUser.alice.name {
      _ = try await pipe.read()
      #expect(fixture.sandbox.requests(to: .me).count == 1)
    } else {
      let error = await pipeFailure { () async throws(PipeError) in try await pipe.read() }
      #expect(error?.cause?.code == .sessionReplaced)
      #expect(fixture.sandbox.requests(to: .me).isEmpty)
    }
    #expect(fixture.oauth.result.token?.idToken?.subject == user.subject)
    await fixture.sandbox.stop()
  }

  @Test func `a request for the user's claims does not carry another user's token`() async throws {
    let fixture = try await signedIn()
    let module = fixture.oauth.module
    let gate = Gate(isOpen: false)
    fixture.sandbox.misbehave(at: .token, .hold(until: { await gate.opened() }))
    module.invalidateAccessToken()
    let claims = begin { try await module.userInfo() }
    _ = try await fixture.sandbox.requests(to: .token, atLeast: 2)
    change(fixture, to: .bob)
    try await module.signIn()
    await failure(.sessionReplaced) { try await claims.value }
    #expect(fixture.sandbox.requests(to: .userInfo).isEmpty)
    gate.open()
    #expect(try await module.userInfo().subject == SandboxUser.bob.subject)
    await fixture.sandbox.stop()
  }

  @Test func `another user may sign in if the app does not require the same one`() async throws {
    let fixture = try await signedIn()
    change(fixture, to: .bob)
    var options = SignInOptions()
    options.requiresSameUser = true
    await failure(.idTokenSubject) { try await fixture.oauth.signIn(with: options) }
    options.requiresSameUser = false
    let token = try await fixture.oauth.signIn(with: options)
    #expect(token.idToken?.subject == SandboxUser.bob.subject)
    #expect(fixture.oauth.result.token?.accessToken == token.accessToken)
    #expect(fixture.sandbox.requests(to: .token).count == 3)
    // After the sign-out, the account has no user, so any user may sign in.
    try await fixture.oauth.signOut()
    options.requiresSameUser = true
    try await fixture.oauth.signIn(with: options)
    await fixture.sandbox.stop()
  }

  /// No page shows who is signed in, and a server may ignore the hint that names the user.
  @Test func `a silent sign-in of another user is refused, and the account is unchanged`()
    async throws
  {
    let fixture = try await signedIn()
    let visitor = SandboxVisitor()
    fixture.oauth.environment.userAgent = CustomUserAgent { _ = try await visitor.visit($0) }
    let alice = try await fixture.oauth.signIn()
    fixture.sandbox.misbehave(at: .token, .idToken(.otherSubject))
    let error = await failure(.idTokenSubject) { try await fixture.oauth.signInSilently() }
    #expect(error?.requiresSignIn == true)
    #expect(fixture.oauth.currentToken?.accessToken == alice.accessToken)
    let stored = try await fixture.oauth.environment.tokenStore.load("default")
    #expect(stored?.token.accessToken == alice.accessToken)
    let again = try await fixture.oauth.signInSilently()
    #expect(again.idToken?.subject == alice.idToken?.subject)
    #expect(again.accessToken != alice.accessToken)
    await fixture.sandbox.stop()
  }

  @Test func `after a restart, another user than the stored one is refused`() async throws {
    let first = try await signedIn()
    let alice = try #require(first.oauth.currentToken)
    let oauth = SQOAuth()
    oauth.environment = first.oauth.environment
    oauth.environment.userAgent = CustomUserAgent { url in
      _ = try await SandboxVisitor(user: .bob).visit(url)
    }
    oauth.register(try #require(first.oauth.module.configuration))
    var options = SignInOptions()
    options.requiresSameUser = true
    await failure(.idTokenSubject) { try await oauth.signIn(with: options) }
    let stored = try await first.oauth.environment.tokenStore.load("default")
    #expect(stored?.token.accessToken == alice.accessToken)
    try await oauth.module.flush()
    #expect(
      first.sandbox.latestRefreshToken(for: SandboxUser.bob.name).map(first.sandbox.isActive)
        != true)
    oauth.environment.userAgent = CustomUserAgent { _ = try await SandboxVisitor().visit($0) }
    #expect(try await oauth.signIn(with: options).idToken?.subject == alice.idToken?.subject)
    await first.sandbox.stop()
  }

  /// Ends the session by a refusal of its refresh token.
  private func loseSession(of fixture: SandboxFixture) async throws {
    fixture.sandbox.misbehave(at: .token, .error("invalid_grant"))
    await failure(.invalidGrant) { try await fixture.oauth.refresh() }
    #expect(!(try await fixture.oauth.restore()))
  }

  @Test func `if the session ends while the user is at the provider, the user stays required`()
    async throws
  {
    let fixture = try await signedIn()
    let gate = Gate(isOpen: false)
    fixture.oauth.environment.userAgent = CustomUserAgent { url in
      await gate.pass()
      _ = try await SandboxVisitor(user: .bob).visit(url)
    }
    let signIn = begin { [oauth = fixture.oauth] in
      var options = SignInOptions()
      options.requiresSameUser = true
      return try await oauth.signIn(with: options)
    }
    try await gate.isHolding()
    try await loseSession(of: fixture)
    gate.open()
    await failure(.idTokenSubject) { try await signIn.value }
    #expect(fixture.oauth.currentToken == nil)
    await fixture.sandbox.stop()
  }

  @Test func `a demanded sign-in is for the user of the refused request, even after the session`()
    async throws
  {
    let fixture = try await signedIn()
    let alice = try #require(fixture.oauth.currentToken?.idToken)
    fixture.sandbox.misbehave(at: .me, .bearerError("insufficient_scope", scope: "demo"))
    let request = WebRequest(url: fixture.sandbox.url(.me))
    let demand = try #require(
      await failure(.insufficientScope) { try await fixture.oauth.send(request) })
    try await loseSession(of: fixture)
    change(fixture, to: .bob)
    await failure(.idTokenSubject) {
      try await fixture.oauth.module.requestAccess(answering: demand)
    }
    #expect(fixture.oauth.currentToken == nil)
    change(fixture, to: .alice)
    let token = try await fixture.oauth.module.requestAccess(answering: demand)
    #expect(token.idToken?.subject == alice.subject && token.scopes.contains("demo"))
    // Another user in the account is known before the browser opens.
    try await fixture.oauth.signOut()
    change(fixture, to: .bob)
    try await fixture.oauth.signIn()
    let pages = fixture.sandbox.requests(to: .authorization).count
    await failure { try await fixture.oauth.module.requestAccess(answering: demand) }
    #expect(fixture.sandbox.requests(to: .authorization).count == pages)
    #expect(fixture.oauth.currentToken?.idToken?.subject == SandboxUser.bob.subject)
    await fixture.sandbox.stop()
  }
}
