#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Validates the ID tokens of one client: the signature, then every rule for the claims.
///
/// - SeeAlso: OpenID Connect Core 1.0, section 3.1.3.7
package struct IDTokenValidator: Sendable {
  let signatures: IssuerSignatures
  private let configuration: ClientConfiguration
  private let clock: any WallClock

  /// Makes the validator of a client; throws if its ID tokens could not be verified.
  ///
  /// No request is made. Call it before the user sees a page, since the error says what the
  /// configuration lacks.
  package init(
    _ configuration: ClientConfiguration, _ metadata: ProviderMetadata,
    _ environment: ClientEnvironment
  ) throws(SQOAuthError) {
    signatures = try IssuerSignatures(configuration, metadata, environment)
    self.configuration = configuration
    clock = environment.clock
  }

  /// Validates an ID token; the issuer's keys are fetched if they are not known.
  ///
  /// - Throws: ``SQOAuthError`` with the code of the broken rule; the error of the request if the
  ///   keys could not be fetched.
  package func validate(
    _ compactForm: String, _ expectation: IDTokenExpectation
  ) async throws(SQOAuthError) -> IDToken {
    let claims = try IDTokenClaims(try await signatures.claims(of: compactForm, as: .idToken))
    let rules = IDTokenRules(
      issuer: signatures.issuer, clientID: configuration.clientID,
      trustedAudiences: configuration.trustedAudiences,
      clockTolerance: configuration.clockTolerance, algorithm: signatures.algorithm,
      now: clock.now)
    try rules.check(claims, expectation)
    return IDToken(validated: claims, compactForm: compactForm)
  }
}
