import Foundation
import OAuthSandbox
import Testing

@testable import LoopbackSupport
@testable import SequencingOAuth
@testable import TestSupport

/// The modules of the FAPI 2.0 plan in which the ID token is wrong or unusual, one test per module.
///
/// They are for clients of OpenID Connect only. The ID token came over a connection that is
/// trusted, and is checked nevertheless.
@Suite(.timeLimit(.minutes(2))) struct FAPI2IDTokenPlanTests {
  private static let otherClient = BoundFixture.clientID + "1"

  private func stops(
    at code: SQOAuthError.Code, sourceLocation: SourceLocation = #_sourceLocation,
    _ change: @escaping @Sendable (inout SandboxJWT) -> Void
  ) async throws {
    try await FAPI2Party().stops(
      atIDToken: code, .idToken(altered: change), sourceLocation: sourceLocation)
  }

  @Test func `fapi2-security-profile-final-client-test-invalid-iss`() async throws {
    try await stops(at: .idTokenIssuer) { token in
      token.claims["iss"] = token.claims["iss"]?.string.map { .string($0 + "1") }
    }
  }

  @Test func `fapi2-security-profile-final-client-test-invalid-aud`() async throws {
    try await stops(at: .idTokenAudience) { $0.claims["aud"] = .string(Self.otherClient) }
  }

  @Test func `fapi2-security-profile-final-client-test-invalid-secondary-aud`() async throws {
    try await stops(at: .idTokenAudience) {
      $0.claims["aud"] = [.string(BoundFixture.clientID), .string(Self.otherClient)]
    }
  }

  @Test func `fapi2-security-profile-final-client-test-invalid-null-alg`() async throws {
    try await FAPI2Party().stops(atIDToken: .idTokenAlgorithm, .idToken(.unsigned))
  }

  /// The signature is right, and its key is in the key set.
  @Test(arguments: [JWSAlgorithm.es256, nil])
  func `fapi2-security-profile-final-client-test-invalid-alternate-alg`(
    registered: JWSAlgorithm?
  ) async throws {
    let party = try await FAPI2Party(change: { $0.idTokenAlgorithm = registered })
    try await party.stops(atIDToken: .idTokenAlgorithm, .idToken(.otherAlgorithm))
  }

  @Test func `fapi2-security-profile-final-client-test-invalid-expired-exp`() async throws {
    try await stops(at: .idTokenExpired) { token in
      token.claims["exp"] = token.claims["iat"]?.integer.map { .integer($0 - 360) }
    }
  }

  @Test func `fapi2-security-profile-final-client-test-invalid-missing-exp`() async throws {
    try await stops(at: .idTokenIncomplete) { $0.claims["exp"] = nil }
  }

  @Test func `fapi2-security-profile-final-client-test-invalid-missing-aud`() async throws {
    try await stops(at: .idTokenIncomplete) { $0.claims["aud"] = nil }
  }

  @Test func `fapi2-security-profile-final-client-test-invalid-missing-iss`() async throws {
    try await stops(at: .idTokenIncomplete) { $0.claims["iss"] = nil }
  }

  @Test func `fapi2-security-profile-final-client-test-valid-aud-as-array`() async throws {
    let party = try await FAPI2Party()
    party.sandbox.misbehave(at: .token, .idToken(.audienceArray))
    #expect(try await party.goesOn().idToken?.audience == [BoundFixture.clientID])
  }

  @Test func `fapi2-security-profile-final-client-test-invalid-nonce`() async throws {
    try await stops(at: .idTokenNonce) { token in
      token.claims["nonce"] = token.claims["nonce"]?.string.map { .string($0 + "1") }
    }
  }

  @Test func `fapi2-security-profile-final-client-test-invalid-missing-nonce`() async throws {
    try await stops(at: .idTokenNonce) { $0.claims["nonce"] = nil }
  }
}
