import Foundation
import OAuthSandbox
import Testing

@testable import LoopbackSupport
@testable import SequencingOAuth
@testable import TestSupport

/// The OpenID Foundation's test plan for FAPI 2.0 clients with `private_key_jwt` and DPoP, one test
/// per module.
///
/// A test has the name of its module. The modules about ID tokens are in ``FAPI2IDTokenPlanTests``,
/// and those about signed responses in ``FAPI2ResponsePlanTests``.
@Suite(.timeLimit(.minutes(2))) struct FAPI2PlanTests {
  @Test(arguments: FAPI2Party.Variant.all)
  func `fapi2-security-profile-final-client-test-happy-path`(
    variant: FAPI2Party.Variant
  ) async throws {
    let party = try await FAPI2Party(variant)
    let token = try await party.goesOn()
    #expect(token.isBound && party.sandbox.isActive(token.accessToken))
    #expect(
      token.idToken?.issuer == (variant.kind == .openID ? party.sandbox.issuer.absoluteString : nil)
    )
    let nonces = party.bound.nonces(at: .token).compactMap(\.self)
    #expect(nonces.allSatisfy { $0.utf8.count == 90 && $0.contains(",") })
    #expect(Set(nonces).count == 2, "the nonce has changed since the request was pushed")
    let needsKeys = variant.kind == .openID || variant.profile == .fapi2MessageSigning
    #expect(party.sandbox.requests(to: .keys).count == (needsKeys ? 1 : 0))
  }

  @Test(arguments: FAPI2Party.Variant.all)
  func `fapi2-security-profile-final-client-test-discovery-issuer-mismatch`(
    variant: FAPI2Party.Variant
  ) async throws {
    let party = try await FAPI2Party(variant)
    party.publishMetadata(issuer: party.sandbox.issuer.absoluteString + "INVALID")
    await failure(.issuerMismatch) { try await party.oauth.signIn() }
    try await party.isOver(party.sandbox.requests.count)
    // The slash at the end is part of the issuer too.
    party.publishMetadata(issuer: String(party.sandbox.issuer.absoluteString.dropLast()))
    await failure(.issuerMismatch) { try await party.oauth.signIn() }
    try await party.isOver(party.sandbox.requests.count)
  }

  // MARK: The authorization response

  @Test(arguments: FAPI2Party.Variant.plain)
  func `fapi2-security-profile-final-client-test-invalid-authorization-response-iss`(
    variant: FAPI2Party.Variant
  ) async throws {
    let party = try await FAPI2Party(variant)
    let issuer = party.sandbox.issuer.absoluteString
    try await party.stops(atResponse: .issuerMismatch, .issuer(.value(issuer + "1")))
    let other = try await FAPI2Party(variant)
    let withoutSlash = String(other.sandbox.issuer.absoluteString.dropLast())
    try await other.stops(atResponse: .issuerMismatch, .issuer(.value(withoutSlash)))
  }

  @Test(arguments: FAPI2Party.Variant.plain)
  func `fapi2-security-profile-final-client-test-remove-authorization-response-iss`(
    variant: FAPI2Party.Variant
  ) async throws {
    try await FAPI2Party(variant).stops(atResponse: .issuerMismatch, .issuer(.missing))
  }

  @Test(arguments: FAPI2Party.Variant.all)
  func
    `fapi2-security-profile-final-client-test-ensure-authorization-response-with-invalid-state-fails`(
      variant: FAPI2Party.Variant
    ) async throws
  {
    try await FAPI2Party(variant).stops(atResponse: .stateMismatch, .state(.wrong))
  }

  @Test(arguments: FAPI2Party.Variant.all)
  func
    `fapi2-security-profile-final-client-test-ensure-authorization-response-with-invalid-missing-state-fails`(
      variant: FAPI2Party.Variant
    ) async throws
  {
    try await FAPI2Party(variant).stops(atResponse: .stateMismatch, .state(.missing))
  }

  // MARK: The token response

  @Test(arguments: FAPI2Party.Variant.all)
  func `fapi2-security-profile-final-client-test-token-endpoint-response-without-expires_in`(
    variant: FAPI2Party.Variant
  ) async throws {
    let party = try await FAPI2Party(variant)
    party.sandbox.misbehave(at: .token, .expiresIn(nil), times: nil)
    #expect(try await party.goesOn().expirationDate == nil)
  }

  @Test(arguments: FAPI2Party.Variant.all)
  func `fapi2-security-profile-final-client-test-token-type-case-insensitivity`(
    variant: FAPI2Party.Variant
  ) async throws {
    let party = try await FAPI2Party(variant)
    party.sandbox.misbehave(at: .token, .member("token_type", "dpOp"), times: nil)
    #expect(try await party.goesOn().tokenType == "dpOp")
    let fields = party.sandbox.requests(to: .me).compactMap { $0.header("authorization") }
    #expect(fields.count == 2 && fields.allSatisfy { $0.hasPrefix("DPoP ") })
  }

  // MARK: Nonces

  @Test(arguments: FAPI2Party.Variant.all)
  func `fapi2-security-profile-final-client-test-rs-dpop-auth-scheme-case-insensitivity`(
    variant: FAPI2Party.Variant
  ) async throws {
    try await FAPI2Party(variant, changeSandbox: { $0.dpop.challengeScheme = "dPoP" }).goesOn()
  }

  @Test(arguments: FAPI2Party.Variant.all)
  func `fapi2-security-profile-final-client-test-happy-path-no-dpop-nonce`(
    variant: FAPI2Party.Variant
  ) async throws {
    let party = try await FAPI2Party(variant, changeSandbox: { $0.dpop.noncesRequiredBy = [] })
    try await party.goesOn(challenges: 0)
    #expect(party.sandbox.requests.allSatisfy { $0.proof?.nonce == nil })
  }

  // MARK: Refreshes

  /// The module for ecosystems that rotate refresh tokens.
  ///
  /// The API refuses every access token until the client has refreshed twice.
  @Test(arguments: FAPI2Party.Variant.all)
  func `fapi2-security-profile-final-client-refresh-token-test`(
    variant: FAPI2Party.Variant
  ) async throws {
    let party = try await FAPI2Party(variant, changeSandbox: { $0.rotatesRefreshTokens = true })
    try await party.oauth.signIn()
    party.sandbox.misbehave(at: .me, .bearerError("invalid_token"), times: 2)
    await failure(.invalidToken) { try await party.bound.send() }
    try await party.oauth.refresh()
    #expect(try await party.bound.send().status == 200)
    let refreshes = party.sandbox.requests(to: .token).compactMap { $0.form("refresh_token") }
    // Each refresh was refused once for its nonce, and used the latest refresh token.
    #expect(refreshes.count == 4 && Set(refreshes).count == 2)
    #expect(refreshes[0] == refreshes[1] && refreshes[2] == refreshes[3])
    #expect(party.sandbox.refreshTokenReuses == 0)
    try party.expectNoFindings()
  }

  /// The plan's server issues refresh tokens that contain punctuation, too.
  @Test func `a refresh token with punctuation is sent back as it is`() async throws {
    let party = try await FAPI2Party(.init(kind: .plain, profile: .fapi2))
    let refreshToken = "Ab1!#$%&'()*+,-./:;<=>?@[]^_`{|}~" + String(repeating: "x", count: 32)
    party.sandbox.misbehave(at: .token, .member("refresh_token", .string(refreshToken)), times: 2)
    try await party.oauth.signIn()
    await failure(.invalidGrant) { try await party.oauth.refresh() }
    let last = try #require(party.sandbox.requests(to: .token).last)
    #expect(last.form("refresh_token") == refreshToken && refreshToken.utf8.count == 65)
  }
}
