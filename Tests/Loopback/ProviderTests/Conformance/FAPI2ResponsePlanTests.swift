import Foundation
import OAuthSandbox
import Testing

@testable import LoopbackSupport
@testable import SequencingOAuth
@testable import TestSupport

/// The modules of the FAPI 2.0 Message Signing plan in which the signed authorization response is
/// wrong, one test per module.
///
/// - SeeAlso: JWT Secured Authorization Response Mode for OAuth 2.0 (JARM), section 2.4
@Suite(.timeLimit(.minutes(2))) struct FAPI2ResponsePlanTests {
  private func stops(
    _ variant: FAPI2Party.Variant, at code: SQOAuthError.Code = .invalidAuthorizationResponse,
    _ misbehaviour: SandboxMisbehaviour, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    try await FAPI2Party(variant)
      .stops(atResponse: code, misbehaviour, sourceLocation: sourceLocation)
  }

  @Test(arguments: FAPI2Party.Variant.signed)
  func `fapi2-security-profile-final-client-test-ensure-jarm-without-iss-fails`(
    variant: FAPI2Party.Variant
  ) async throws {
    try await stops(variant, at: .issuerMismatch, .jwt(altered: { $0.claims["iss"] = nil }))
  }

  @Test(arguments: FAPI2Party.Variant.signed)
  func `fapi2-security-profile-final-client-test-ensure-jarm-with-invalid-iss-fails`(
    variant: FAPI2Party.Variant
  ) async throws {
    try await stops(
      variant, at: .issuerMismatch,
      .jwt(altered: { token in
        token.claims["iss"] = token.claims["iss"]?.string.map { .string($0 + "1") }
      }))
  }

  @Test(arguments: FAPI2Party.Variant.signed)
  func `fapi2-security-profile-final-client-test-ensure-jarm-without-aud-fails`(
    variant: FAPI2Party.Variant
  ) async throws {
    try await stops(variant, .jwt(altered: { $0.claims["aud"] = nil }))
  }

  @Test(arguments: FAPI2Party.Variant.signed)
  func `fapi2-security-profile-final-client-test-ensure-jarm-with-invalid-aud-fails`(
    variant: FAPI2Party.Variant
  ) async throws {
    try await stops(
      variant, .jwt(altered: { $0.claims["aud"] = .string(BoundFixture.clientID + "1") }))
  }

  @Test(arguments: FAPI2Party.Variant.signed)
  func `fapi2-security-profile-final-client-test-ensure-jarm-without-exp-fails`(
    variant: FAPI2Party.Variant
  ) async throws {
    try await stops(variant, .jwt(altered: { $0.claims["exp"] = nil }))
  }

  @Test(arguments: FAPI2Party.Variant.signed)
  func `fapi2-security-profile-final-client-test-ensure-jarm-with-expired-exp-fails`(
    variant: FAPI2Party.Variant
  ) async throws {
    let past = Int(Date().timeIntervalSince1970) - 360
    try await stops(variant, .jwt(altered: { $0.claims["exp"] = .integer(past) }))
  }

  @Test(arguments: FAPI2Party.Variant.signed)
  func `fapi2-security-profile-final-client-test-ensure-jarm-with-invalid-sig-fails`(
    variant: FAPI2Party.Variant
  ) async throws {
    try await stops(variant, .signedResponse(.wrongSignature))
    try await stops(variant, .signedResponse(.unpublishedKey))
  }

  @Test(arguments: FAPI2Party.Variant.signed)
  func `fapi2-security-profile-final-client-test-ensure-jarm-signature-is-not-none`(
    variant: FAPI2Party.Variant
  ) async throws {
    try await stops(variant, .signedResponse(.unsigned))
  }

  /// The metadata lists the only allowed algorithm, as it does for ID tokens.
  @Test(arguments: FAPI2Party.Variant.signed)
  func `a response signed by a published key but with an unlisted algorithm is refused`(
    variant: FAPI2Party.Variant
  ) async throws {
    try await stops(variant, .jwt(.otherAlgorithm))
  }

  /// An attacker who can change the redirect must not be able to avoid the signature.
  @Test(arguments: FAPI2Party.Variant.signed)
  func `a response with plain parameters in place of or beside the JWT is refused`(
    variant: FAPI2Party.Variant
  ) async throws {
    try await stops(variant, .signedResponse(.plain))
    try await stops(variant, .signedResponse(.plainToo))
  }

  /// The metadata promises `iss` beside the code, but a signed response has `iss` only inside the
  /// JWT.
  @Test(arguments: FAPI2Party.Variant.signed)
  func `a redirect with a signed response has only the parameter response`(
    variant: FAPI2Party.Variant
  ) async throws {
    let party = try await FAPI2Party(variant)
    try await party.goesOn()
    try await eventually { !party.bound.fixture.visited.isEmpty }
    let redirect = try #require(party.bound.fixture.visited.first?.redirect)
    #expect(SandboxPeer.parameters(redirect).map(\.name) == ["response"])
    #expect(try await party.oauth.providerMetadata().sendsIssuerInResponse)
  }
}
