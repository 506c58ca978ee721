import Foundation
import OAuthSandbox
import Testing

@testable import LoopbackSupport
@testable import SQBasics
@testable import SequencingOAuth
@testable import TestSupport

/// The OpenID Foundation's test plan for logouts started by the relying party.
@Suite(.timeLimit(.minutes(2))) struct LogoutPlanTests {
  @Test func `oidcc-client-test-rp-init-logout`() async throws {
    let party = try await OpenIDFixture()
    let user = try await party.signIn()
    try await party.oauth.endSession()
    let request = try #require(party.sandbox.requests(to: .endSession).first)
    #expect(request.query("id_token_hint") == user.compactForm)
    #expect(request.query("client_id") == "relying-party")
    #expect(request.query("post_logout_redirect_uri") == "com.example.app:/signed-out")
    #expect(request.query("state")?.utf8.count ?? 0 >= 43)
    #expect(party.oauth.currentToken == nil)
    #expect(!(try await party.oauth.restore()))
  }

  @Test func `oidcc-client-test-rp-init-logout-no-state`() async throws {
    try await isTold { $0.replacing(/[?&]state=[^&]*/, with: "") }
  }

  @Test func `oidcc-client-test-rp-init-logout-invalid-state`() async throws {
    try await isTold { $0.replacing("state=", with: "state=x") }
  }

  /// Checks that a changed state in the redirect is an error, and that the app is signed out.
  private func isTold(_ change: @escaping @Sendable (String) -> String) async throws {
    let party = try await OpenIDFixture()
    try await party.signIn()
    let visitor = SandboxVisitor()
    party.oauth.environment.userAgent = CustomUserAgent { url, logout in
      logout.handleRedirect(change(try await visitor.visit(url).redirect))
    }
    await failure(.stateMismatch) { try await party.oauth.endSession() }
    #expect(party.oauth.currentToken == nil)
    #expect(!(try await party.oauth.restore()))
  }
}
