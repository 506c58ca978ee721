import Foundation
import OAuthSandbox
import Testing

@testable import LoopbackSupport
@testable import SQBasics
@testable import SequencingOAuth
@testable import TestSupport

/// The OpenID Foundation's test plan for relying parties that use discovery, one test per module.
@Suite(.timeLimit(.minutes(2))) struct ConfigPlanTests {
  @Test func `oidcc-client-test-discovery-openid-config`() async throws {
    let party = try await OpenIDFixture()
    try await party.signIn()
    let metadata = try await party.oauth.providerMetadata()
    #expect(metadata.jwksURI == party.sandbox.keysEndpoint)
    #expect(metadata.userInfoEndpoint == party.sandbox.userInfoEndpoint)
    #expect(metadata.endSessionEndpoint == party.sandbox.endSessionEndpoint)
    #expect(metadata.idTokenAlgorithms?.contains("RS256") == true)
    #expect(metadata.scopes?.contains("openid") == true && metadata.claims?.contains("sub") == true)
  }

  @Test func `oidcc-client-test-discovery-jwks-uri-keys`() async throws {
    let party = try await OpenIDFixture()
    try await party.signIn()
    #expect(party.sandbox.requests(to: .keys).count == 1)
    try await party.signIn()
    #expect(party.sandbox.requests(to: .keys).count == 1, "the keys are kept")
  }

  @Test func `oidcc-client-test-discovery-issuer-mismatch`() async throws {
    let party = try await OpenIDFixture()
    party.sandbox.misbehave(
      at: .metadata,
      .status(
        200, headers: ["Content-Type": "application/json"],
        body: #"{"issuer":"https://other.example","token_endpoint":"https://other.example/t"}"#))
    await failure(.issuerMismatch) { try await party.oauth.signIn() }
    #expect(party.fixture.endpoints == [.metadata])
  }

  @Test func `oidcc-client-test-idtoken-sig-none`() async throws {
    try await OpenIDFixture().refuses(.idToken(.unsigned), .idTokenAlgorithm)
  }

  @Test func `oidcc-client-test-signing-key-rotation`() async throws {
    let party = try await OpenIDFixture()
    try await party.signIn()
    party.sandbox.rotateSigningKeys(keepingOld: false)
    try await party.signIn()
    #expect(party.sandbox.requests(to: .keys).count == 2)
  }

  @Test func `oidcc-client-test-signing-key-rotation-just-before-signing`() async throws {
    let party = try await OpenIDFixture()
    try await party.signIn()
    // The server changes its keys at each sign-in, so even keys that were just fetched are
    // outdated.
    let (sandbox, visitor) = (party.sandbox, SandboxVisitor())
    party.oauth.environment.userAgent = CustomUserAgent { url in
      sandbox.rotateSigningKeys(keepingOld: false)
      _ = try await visitor.visit(url)
    }
    try await party.signIn()
    try await party.signIn()
    #expect(sandbox.requests(to: .keys).count == 3)
  }
}
