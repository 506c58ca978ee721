import Foundation
import OAuthSandbox
import Testing

@testable import LoopbackSupport
@testable import SQBasics
@testable import SequencingOAuth
@testable import TestSupport

/// The OpenID Foundation's test plan for basic relying parties, one test per module.
///
/// In each test the provider is right, or wrong in one detail. A test has the name of its module.
@Suite(.timeLimit(.minutes(2))) struct BasicPlanTests {
  @Test func `oidcc-client-test`() async throws {
    let party = try await OpenIDFixture()
    let user = try await party.signIn()
    #expect(user.issuer == party.sandbox.issuer.absoluteString)
    #expect(user.audience == ["relying-party"])
    #expect(party.fixture.tokenRequests.count == 1)
  }

  @Test func `oidcc-client-test-invalid-iss`() async throws {
    try await OpenIDFixture().refuses(.idToken(.issuerWrong), .idTokenIssuer)
  }

  @Test func `oidcc-client-test-missing-sub`() async throws {
    try await OpenIDFixture().refuses(.idToken(.subjectMissing), .idTokenIncomplete)
  }

  @Test func `oidcc-client-test-invalid-aud`() async throws {
    try await OpenIDFixture().refuses(.idToken(.audienceWrong), .idTokenAudience)
  }

  @Test func `oidcc-client-test-missing-iat`() async throws {
    try await OpenIDFixture().refuses(.idToken(.issueDateMissing), .idTokenIncomplete)
  }

  @Test func `oidcc-client-test-nonce-invalid`() async throws {
    try await OpenIDFixture().refuses(.idToken(.nonceWrong), .idTokenNonce)
    try await OpenIDFixture().refuses(.idToken(.nonceMissing), .idTokenNonce)
  }

  @Test func `oidcc-client-test-kid-absent-single-jwks`() async throws {
    try await OpenIDFixture(changeSandbox: {
      $0.openID.namesKeys = false
      $0.openID.decoyKeys = .none
      $0.openID.algorithms = [.rs256]
    }).signIn()
  }

  @Test func `oidcc-client-test-kid-absent-multiple-jwks`() async throws {
    let party = try await OpenIDFixture(changeSandbox: { $0.openID.namesKeys = false })
    party.sandbox.rotateSigningKeys()
    try await party.signIn()
  }

  @Test func `oidcc-client-test-idtoken-sig-rs256`() async throws {
    try await OpenIDFixture(.rs256).signIn()
  }

  /// The Foundation's plan allows a client to accept an unsigned token.
  ///
  /// This client rejects it.
  @Test func `oidcc-client-test-idtoken-sig-none`() async throws {
    try await OpenIDFixture().refuses(.idToken(.unsigned), .idTokenAlgorithm)
  }

  @Test func `oidcc-client-test-invalid-sig-rs256`() async throws {
    try await OpenIDFixture().refuses(.idToken(.wrongSignature), .idTokenSignature)
  }

  @Test func `oidcc-client-test-userinfo-invalid-sub`() async throws {
    let party = try await OpenIDFixture()
    try await party.signIn()
    party.sandbox.misbehave(at: .userInfo, .userInfo(.otherSubject))
    await failure(.userInfoInvalid) { try await party.oauth.userInfo() }
    #expect(party.sandbox.requests(to: .userInfo).count == 1)
  }

  @Test func `oidcc-client-test-scope-userinfo-claims`() async throws {
    let party = try await OpenIDFixture(scope: "openid profile email phone address")
    let user = try await party.signIn()
    let info = try await party.oauth.userInfo()
    #expect(info.subject == user.subject)
    #expect(info.name == "Alice Liddell")
    #expect(info.email != nil && info.phoneNumber != nil && info.address != nil)
  }

  @Test func `oidcc-client-test-client-secret-basic`() async throws {
    let party = try await OpenIDFixture()
    try await party.signIn()
    let field = party.fixture.tokenRequests.first?.header("Authorization")
    #expect(field?.hasPrefix("Basic ") == true)
  }
}
