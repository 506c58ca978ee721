import Foundation
import OAuthSandbox
import Testing

@testable import LoopbackSupport
@testable import SequencingOAuth
@testable import TestSupport

/// The modules of the FAPI 2.0 plan in which the ID token is wrong or unusual, one test per module.
///
/// The modules are for clients of OpenID Connect only. The ID token came over a trusted connection,
/// and the client checks it nevertheless.
@Suite(.timeLimit(.minutes(2))) struct FAPI2IDTokenPlanTests {
  private static let otherClient = BoundFixture.clientID + "1"

  private func stops(
    _ variant: FAPI2Party.Variant, at code: SQOAuthError.Code,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ change: @escaping @Sendable (inout SandboxJWT) -> Void
  ) async throws {
    try await FAPI2Party(variant).stops(
      atIDToken: code, .idToken(altered: change), sourceLocation: sourceLocation)
  }

  @Test(arguments: FAPI2Party.Variant.ofOpenID)
  func `fapi2-security-profile-final-client-test-invalid-iss`(variant: FAPI2Party.Variant)
    async throws
  {
    try await stops(variant, at: .idTokenIssuer) { token in
      token.claims["iss"] = token.claims["iss"]?.string.map { .string($0 + "1") }
    }
  }

  @Test(arguments: FAPI2Party.Variant.ofOpenID)
  func `fapi2-security-profile-final-client-test-invalid-aud`(variant: FAPI2Party.Variant)
    async throws
  {
    try await stops(variant, at: .idTokenAudience) { $0.claims["aud"] = .string(Self.otherClient) }
  }

  @Test(arguments: FAPI2Party.Variant.ofOpenID)
  func `fapi2-security-profile-final-client-test-invalid-secondary-aud`(variant: FAPI2Party.Variant)
    async throws
  {
    try await stops(variant, at: .idTokenAudience) {
      $0.claims["aud"] = [.string(BoundFixture.clientID), .string(Self.otherClient)]
    }
  }

  @Test(arguments: FAPI2Party.Variant.ofOpenID)
  func `fapi2-security-profile-final-client-test-invalid-null-alg`(variant: FAPI2Party.Variant)
    async throws
  {
    try await FAPI2Party(variant).stops(atIDToken: .idTokenAlgorithm, .idToken(.unsigned))
  }

  /// The signature is right, and its key is in the key set.
  @Test(arguments: FAPI2Party.Variant.ofOpenID, [JWSAlgorithm.es256, nil])
  func `fapi2-security-profile-final-client-test-invalid-alternate-alg`(
    variant: FAPI2Party.Variant, registered: JWSAlgorithm?
  ) async throws {
    let party = try await FAPI2Party(variant, change: { $0.idTokenAlgorithm = registered })
    try await party.stops(atIDToken: .idTokenAlgorithm, .idToken(.otherAlgorithm))
  }

  @Test(arguments: FAPI2Party.Variant.ofOpenID)
  func `fapi2-security-profile-final-client-test-invalid-expired-exp`(variant: FAPI2Party.Variant)
    async throws
  {
    try await stops(variant, at: .idTokenExpired) { token in
      token.claims["exp"] = token.claims["iat"]?.integer.map { .integer($0 - 360) }
    }
  }

  @Test(arguments: FAPI2Party.Variant.ofOpenID)
  func `fapi2-security-profile-final-client-test-invalid-missing-exp`(variant: FAPI2Party.Variant)
    async throws
  {
    try await stops(variant, at: .idTokenIncomplete) { $0.claims["exp"] = nil }
  }

  @Test(arguments: FAPI2Party.Variant.ofOpenID)
  func `fapi2-security-profile-final-client-test-invalid-missing-aud`(variant: FAPI2Party.Variant)
    async throws
  {
    try await stops(variant, at: .idTokenIncomplete) { $0.claims["aud"] = nil }
  }

  @Test(arguments: FAPI2Party.Variant.ofOpenID)
  func `fapi2-security-profile-final-client-test-invalid-missing-iss`(variant: FAPI2Party.Variant)
    async throws
  {
    try await stops(variant, at: .idTokenIncomplete) { $0.claims["iss"] = nil }
  }

  @Test(arguments: FAPI2Party.Variant.ofOpenID)
  func `fapi2-security-profile-final-client-test-valid-aud-as-array`(variant: FAPI2Party.Variant)
    async throws
  {
    let party = try await FAPI2Party(variant)
    party.sandbox.misbehave(at: .token, .idToken(.audienceArray))
    #expect(try await party.goesOn().idToken?.audience == [BoundFixture.clientID])
  }

  @Test(arguments: FAPI2Party.Variant.ofOpenID)
  func `fapi2-security-profile-final-client-test-invalid-nonce`(variant: FAPI2Party.Variant)
    async throws
  {
    try await stops(variant, at: .idTokenNonce) { token in
      token.claims["nonce"] = token.claims["nonce"]?.string.map { .string($0 + "1") }
    }
  }

  @Test(arguments: FAPI2Party.Variant.ofOpenID)
  func `fapi2-security-profile-final-client-test-invalid-missing-nonce`(variant: FAPI2Party.Variant)
    async throws
  {
    try await stops(variant, at: .idTokenNonce) { $0.claims["nonce"] = nil }
  }
}
