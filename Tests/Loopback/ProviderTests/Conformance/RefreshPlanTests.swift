import Foundation
import OAuthSandbox
import Testing

@testable import LoopbackSupport
@testable import SQBasics
@testable import SequencingOAuth
@testable import TestSupport

/// The OpenID Foundation's test plan for relying parties that refresh, one test per module.
@Suite(.timeLimit(.minutes(2))) struct RefreshPlanTests {
  @Test func `oidcc-client-test-refresh-token`() async throws {
    let party = try await OpenIDFixture()
    let user = try await party.signIn()
    let token = try await party.oauth.refresh()
    #expect(token.idToken?.subject == user.subject)
    #expect(token.idToken != user, "the refresh brought an ID token of its own")
    #expect(party.oauth.currentToken == token)
  }

  @Test func `oidcc-client-test-refresh-token-invalid-issuer`() async throws {
    try await endsSession(.issuerWrong, .idTokenIssuer)
  }

  @Test func `oidcc-client-test-refresh-token-invalid-sub`() async throws {
    try await endsSession(.otherSubject, .idTokenSubject)
  }

  /// Checks that a faulty ID token ends the session, and that no token is used again.
  private func endsSession(
    _ fault: SandboxIDTokenFault, _ code: SQOAuthError.Code
  ) async throws {
    let party = try await OpenIDFixture()
    let store = MemoryTokenStore()
    party.oauth.environment.tokenStore = store
    try await party.signIn()
    let recorder = RefreshRecorder.listening(to: party.oauth.events())
    party.sandbox.forgetRequests()
    party.sandbox.misbehave(at: .token, .idToken(fault))
    let error = await failure(code) { try await party.oauth.refresh() }
    #expect(error?.requiresSignIn == true)
    #expect(party.oauth.currentToken == nil)
    #expect(await store.load("default") == nil)
    await failure(.notAuthorized) {
      try await party.oauth.send(WebRequest(url: party.sandbox.url(.me)))
    }
    #expect(party.fixture.endpoints == [.token], "nothing follows the refusal")
    try await eventually { recorder.words == ["ended refused \(code)"] }
  }
}
