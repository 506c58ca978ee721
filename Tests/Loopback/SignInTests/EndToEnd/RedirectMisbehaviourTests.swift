import Foundation
import OAuthSandbox
import SequencingOAuth
import Testing

@testable import LoopbackSupport
@testable import TestSupport

/// Altered redirects; if the client notices the change, it must not send a token request.
@Suite("End to end: altered redirects", .timeLimit(.minutes(1))) struct RedirectMisbehaviourTests {
  static let alterations: [SandboxMisbehaviour.Alteration] = [
    .wrong, .missing, .empty, .doubled, .value("x"),
  ]

  func expect(
    _ misbehaviour: SandboxMisbehaviour, ends code: SQOAuthError.Code, byHand: Bool = false,
    knowsIssuer: Bool = true, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    for redirectURI in ["http://127.0.0.1/callback", "com.example.sandbox:/callback"] {
      let fixture = try await SandboxFixture()
        .register(redirectURI: redirectURI, byHand: byHand, knowsIssuer: knowsIssuer)
      fixture.sandbox.misbehave(at: .authorization, misbehaviour)
      let error = await fixture.fail(code, sourceLocation: sourceLocation)
      #expect(error?.isCancellation == (code == .accessDenied), sourceLocation: sourceLocation)
      #expect(fixture.tokenRequests.isEmpty, "the code was sent", sourceLocation: sourceLocation)
      #expect(
        await fixture.delegate.events(1)
          == [code == .accessDenied ? .cancelled : .failed(code)], sourceLocation: sourceLocation)
      // The server now answers correctly, and a sign-in works.
      let token = try await fixture.oauth.signIn()
      #expect(fixture.sandbox.isActive(token.accessToken), sourceLocation: sourceLocation)
      #expect(fixture.tokenRequests.count == 1, sourceLocation: sourceLocation)
    }
  }

  @Test(arguments: alterations)
  func `an altered state fails with state_mismatch, and the code is not sent`(
    alteration: SandboxMisbehaviour.Alteration
  ) async throws {
    try await expect(.state(alteration), ends: .stateMismatch)
  }

  @Test(arguments: alterations)
  func `an altered issuer is rejected if the metadata promises an issuer`(
    alteration: SandboxMisbehaviour.Alteration
  ) async throws {
    try await expect(
      .issuer(alteration),
      ends: alteration == .doubled ? .invalidAuthorizationResponse : .issuerMismatch)
  }

  @Test
  func `a denial without the promised issuer is reported, and one with a wrong issuer is rejected`()
    async throws
  {
    for alteration in [SandboxMisbehaviour.Alteration.missing, .wrong] {
      let fixture = try await SandboxFixture(decision: .deny).register()
      fixture.sandbox.misbehave(at: .authorization, .issuer(alteration))
      let isMissing = alteration == .missing
      let error = await fixture.fail(isMissing ? .accessDenied : .issuerMismatch)
      #expect(error?.isCancellation == isMissing)
      #expect(
        await fixture.delegate.events(1) == [isMissing ? .cancelled : .failed(.issuerMismatch)])
      #expect(fixture.tokenRequests.isEmpty)
    }
  }

  @Test(arguments: [SandboxMisbehaviour.Alteration.wrong, .empty, .value("http://127.0.0.1:1")])
  func `a wrong issuer is rejected if the app configured the right one`(
    alteration: SandboxMisbehaviour.Alteration
  ) async throws {
    try await expect(.issuer(alteration), ends: .issuerMismatch, byHand: true)
  }

  @Test func `a missing issuer is accepted if the metadata does not promise one`() async throws {
    let fixture = try await SandboxFixture().register(byHand: true)
    fixture.sandbox.misbehave(at: .authorization, .issuer(.missing))
    _ = try await fixture.oauth.signIn()
    // A client that does not know the issuer has nothing to compare with `iss`.
    let unknowing = try await SandboxFixture().register(byHand: true, knowsIssuer: false)
    _ = try await unknowing.oauth.signIn()
  }

  @Test(arguments: [SandboxMisbehaviour.Alteration.missing, .empty, .doubled])
  func `a missing, empty or repeated code is rejected`(alteration: SandboxMisbehaviour.Alteration)
    async throws
  {
    try await expect(.code(alteration), ends: .invalidAuthorizationResponse)
  }

  @Test func `the server rejects a wrong code`() async throws {
    let fixture = try await SandboxFixture().register()
    fixture.sandbox.misbehave(at: .authorization, .code(.wrong))
    _ = await fixture.fail(.invalidGrant)
    #expect(fixture.tokenRequests.count == 1)
  }

  @Test func `a redirect with a token is rejected`() async throws {
    try await expect(.tokenInRedirect, ends: .invalidAuthorizationResponse)
  }

  @Test(arguments: [
    "access_denied", "server_error", "temporarily_unavailable", "invalid_scope",
    "unauthorized_client", "unsupported_response_type", "invalid_request", "own_code",
  ])
  func `an error in the redirect is reported with its code`(code: String) async throws {
    try await expect(
      .errorRedirect(code, description: "<script>why</script>"), ends: .init(rawValue: code))
  }
}
