import SQFoundation

/// A validator for the ID tokens of one client: it checks the signature, then every rule for the
/// claims.
///
/// - SeeAlso: OpenID Connect Core 1.0, section 3.1.3.7
package struct IDTokenValidator: Sendable {
  let signatures: IssuerSignatures
  private let configuration: ClientConfiguration
  private let clock: any WallClock

  /// Creates the validator for a client's ID tokens; throws if no ID token could be verified.
  ///
  /// This sends no request. Create the validator before the user sees a page, because the error
  /// says what the configuration lacks.
  package init(
    _ configuration: ClientConfiguration, _ metadata: ProviderMetadata,
    _ environment: ClientEnvironment
  ) throws(SQOAuthError) {
    signatures = try IssuerSignatures(configuration, metadata, environment)
    self.configuration = configuration
    clock = environment.clock
  }

  /// Validates an ID token.
  ///
  /// The issuer's keys are fetched if they are not in memory or no longer fresh.
  ///
  /// - Throws: ``SQOAuthError`` with the code of the violated rule; the error of the request if the
  ///   keys could not be fetched.
  package func validate(
    _ compactForm: String, _ expectation: IDTokenExpectation
  ) async throws(SQOAuthError) -> IDToken {
    let (claims, rules) = try await verified(compactForm)
    try rules.checkParties(claims, expectation)
    try rules.checkStatements(claims, expectation)
    return IDToken(validated: claims, compactForm: compactForm)
  }

  /// Validates the ID token of a refresh, which may have fewer claims than the sign-in's ID token.
  ///
  /// - Returns: The ID token; or an error if the ID token is unusable for a reason other than those
  ///   below. After such an error, the account keeps the ID token of the sign-in.
  /// - Throws: The errors of ``validate(_:_:)`` if the ID token is from another issuer, is for
  ///   another user or client, or belongs to another sign-in or access token; if its signature is
  ///   wrong, or its key unknown or too short; or if the issuer's keys could not be fetched.
  /// - SeeAlso: OpenID Connect Core 1.0, section 12.2
  func validateRefreshed(
    _ compactForm: String, _ expectation: IDTokenExpectation
  ) async throws(SQOAuthError) -> Result<IDToken, SQOAuthError> {
    let (claims, rules): (IDTokenClaims, IDTokenRules)
    do throws(SQOAuthError) {
      (claims, rules) = try await verified(compactForm)
    } catch {
      // Treat an unreadable ID token like a response without an ID token.
      guard Self.unread.contains(error.code) else { throw error }
      try checkUnverified(compactForm, expectation)
      return .failure(error)
    }
    try rules.checkParties(claims, expectation)
    return Result { () throws(SQOAuthError) in
      try rules.checkStatements(claims, expectation)
      return IDToken(validated: claims, compactForm: compactForm)
    }
  }

  /// The error codes for an ID token that the client cannot read, or whose signature it cannot
  /// check.
  private static let unread: Set<SQOAuthError.Code> = [
    .idTokenMalformed, .idTokenIncomplete, .idTokenEncrypted, .idTokenCritical, .idTokenAlgorithm,
  ]

  /// Throws if the unverified claims of an ID token name another issuer, user, client or sign-in.
  ///
  /// Unverified claims prove nothing, so they can only be a reason to reject the response. If they
  /// cannot be read, this does nothing.
  private func checkUnverified(
    _ compactForm: String, _ expectation: IDTokenExpectation
  ) throws(SQOAuthError) {
    guard let text = try? SignedText.idToken.read(compactForm), let members = try? text.claims(),
      let claims = try? IDTokenClaims(members)
    else { return }
    try rules(nil).checkNames(claims, expectation)
  }

  /// Verifies an ID token's signature, and returns its claims and the rules for them.
  private func verified(
    _ compactForm: String
  ) async throws(SQOAuthError) -> (IDTokenClaims, IDTokenRules) {
    let text = try SignedText.idToken.read(compactForm)
    let (members, algorithm, _) = try await signatures.claims(of: text, as: .idToken)
    return (try IDTokenClaims(members), rules(algorithm))
  }

  private func rules(_ algorithm: JWSAlgorithm?) -> IDTokenRules {
    IDTokenRules(
      issuer: signatures.issuer, clientID: configuration.clientID,
      trustedAudiences: configuration.trustedAudiences,
      clockTolerance: configuration.clockTolerance, algorithm: algorithm, now: clock.now,
      tenants: configuration.provider.idTokenIssuer)
  }
}
