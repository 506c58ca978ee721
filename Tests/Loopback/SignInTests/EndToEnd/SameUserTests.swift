import Foundation
import OAuthSandbox
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
}
