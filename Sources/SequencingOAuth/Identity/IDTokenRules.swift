import SQBasics
import SQCrypto
import SQFoundation

/// The rules for the claims of an ID token whose signature has been verified.
///
/// - SeeAlso: OpenID Connect Core 1.0, sections 3.1.3.7, 3.1.3.8, 3.3.2.11 and 12.2
struct IDTokenRules {
  let issuer: String
  let clientID: String
  /// The audiences that an ID token may have in addition to the client.
  let trustedAudiences: Set<String>
  /// The allowed difference between the clocks, in both directions.
  let clockTolerance: Duration
  /// The algorithm of the signature; `nil` if the signature was not verified.
  ///
  /// `at_hash` and `c_hash` use its digest.
  let algorithm: JWSAlgorithm?
  let now: Date
  /// The issuers of a provider with tenants; `nil` if ``issuer`` is the only one.
  var tenants: IssuerTemplate?

  /// Throws if the claims are from another issuer, for another user or client, or belong to another
  /// sign-in.
  func checkParties(
    _ claims: IDTokenClaims, _ expectation: IDTokenExpectation
  ) throws(SQOAuthError) {
    try checkNames(claims, expectation)
    try checkHashes(claims, expectation)
  }

  /// Throws if the issuer, the user, the client or the nonce is not the expected one.
  func checkNames(
    _ claims: IDTokenClaims, _ expectation: IDTokenExpectation
  ) throws(SQOAuthError) {
    try checkIssuer(claims)
    if let previous = expectation.previous { try checkUser(claims, of: previous) }
    try checkClient(claims)
    try checkNonce(claims, expectation.nonce)
  }

  /// Checks the audiences besides the client, the times and the user's authentication.
  func checkStatements(
    _ claims: IDTokenClaims, _ expectation: IDTokenExpectation
  ) throws(SQOAuthError) {
    try checkOtherAudiences(claims, expectation.previous)
    try checkTimes(claims, expectation)
    try checkAuthentication(claims, expectation)
  }

  // MARK: Who issued it, and for whom

  private func checkIssuer(_ claims: IDTokenClaims) throws(SQOAuthError) {
    if let tenants {
      guard let expected = tenants.issuer(of: claims.all) else {
        throw SQOAuthError(
          .idTokenIssuer,
          "the ID token of \"\(claims.issuer.printable)\" must name a tenant "
            + "(\"\(tenants.claim)\"); it names none, or one whose users the provider's configuration "
            + "does not allow to sign in")
      }
      guard claims.issuer == expected else {
        throw SQOAuthError(
          .idTokenIssuer,
          "the ID token names the issuer \"\(claims.issuer.printable)\" and not \"\(expected)\", "
            + "the issuer of the tenant that it names (\"\(tenants.claim)\")")
      }
      return
    }
    guard claims.issuer == issuer else {
      throw SQOAuthError(
        .idTokenIssuer,
        "the ID token names the issuer \"\(claims.issuer.printable)\" and not "
          + "\"\(issuer.printable)\"; if you trust that issuer, register it as the provider's "
          + "issuer, byte for byte")
    }
  }

  private func checkUser(
    _ claims: IDTokenClaims, of previous: IDToken
  ) throws(SQOAuthError) {
    guard claims.subject == previous.subject,
      claims.issuer == previous.issuer
    else {
      throw SQOAuthError(
        .idTokenSubject, "the refresh brought the ID token of another user; sign in again")
    }
  }

  private func checkClient(_ claims: IDTokenClaims) throws(SQOAuthError) {
    guard claims.audience.contains(clientID) else {
      throw SQOAuthError(
        .idTokenAudience,
        "the ID token is for other clients; use the client identifier that the "
          + "provider gave your app")
    }
    guard claims.authorizedParty.map({ $0 == clientID }) ?? true else {
      throw SQOAuthError(
        .idTokenAuthorizedParty, "the ID token was not issued to this client (\"azp\")")
    }
  }

  private func checkOtherAudiences(
    _ claims: IDTokenClaims, _ previous: IDToken?
  ) throws(SQOAuthError) {
    let others = claims.audience.contains { $0 != clientID && !trustedAudiences.contains($0) }
    guard !others else {
      throw SQOAuthError(
        .idTokenAudience,
        "the ID token is also for others than this client; if you trust them, name them in the "
          + "configuration's trustedAudiences")
    }
    guard claims.authorizedParty != nil || claims.audience.allSatisfy({ $0 == clientID }) else {
      throw SQOAuthError(
        .idTokenAuthorizedParty,
        "the ID token does not say to which of its audiences it was issued (\"azp\")")
    }
    guard (previous?.audience ?? []).allSatisfy({ claims.audience.contains($0) }) else {
      throw SQOAuthError(
        .idTokenAudience, "the ID token of the refresh lacks an audience of the sign-in's ID token")
    }
  }

  // MARK: When

  private func checkTimes(
    _ claims: IDTokenClaims, _ expectation: IDTokenExpectation
  ) throws(SQOAuthError) {
    guard !clock.hasEnded(claims.expirationDate) else {
      throw SQOAuthError(
        .idTokenExpired, "the ID token has expired\(ClaimClock.advice(expectation.clockLead))")
    }
    guard !clock.isAhead(claims.issueDate), !(claims.notBefore.map(clock.isAhead) ?? false) else {
      throw SQOAuthError(
        .idTokenNotYetValid,
        "the ID token is not valid yet\(ClaimClock.advice(expectation.clockLead))")
    }
  }

  private var clock: ClaimClock { ClaimClock(now: now, tolerance: clockTolerance) }

  // MARK: The request that it answers

  private func checkNonce(
    _ claims: IDTokenClaims, _ nonce: IDTokenExpectation.Nonce
  ) throws(SQOAuthError) {
    let fits =
      switch nonce {
      case .required(let nonce): claims.nonce == nonce
      case .ifPresent(let nonce): claims.nonce == nil || nonce == nil || claims.nonce == nonce
      }
    guard fits else {
      throw SQOAuthError(
        .idTokenNonce,
        "the ID token does not repeat the nonce of this sign-in, so it may belong to another one; "
          + "sign in again, and tell the provider if it fails again"
      )
    }
  }

  private func checkAuthentication(
    _ claims: IDTokenClaims, _ expectation: IDTokenExpectation
  ) throws(SQOAuthError) {
    if let maximumAge = expectation.maximumAge {
      guard let date = claims.authenticationDate else {
        throw SQOAuthError(
          .idTokenAuthenticationDate,
          "the sign-in asked for a recent login, but the ID token does not say when the user "
            + "logged in")
      }
      // The time that the user spends at the provider after the login is not the login's age. The
      // request may come from another host, whose clock may be ahead of this one.
      let requested = min(expectation.requestDate ?? now, now)
      guard date.addingTimeInterval((maximumAge + clockTolerance).seconds) >= requested else {
        throw SQOAuthError(
          .idTokenAuthenticationDate,
          "when the sign-in began, the user's last login was longer ago than the sign-in allows")
      }
      guard !clock.isAhead(date) else {
        throw SQOAuthError(
          .idTokenAuthenticationDate,
          "the ID token names a login in the future\(ClaimClock.advice(expectation.clockLead))")
      }
    }
    if let before = expectation.previous?.authenticationDate,
      let date = claims.authenticationDate, date > before
    {
      throw SQOAuthError(
        .idTokenAuthenticationDate,
        "the ID token of the refresh names a later login (\"auth_time\") than that of the sign-in, "
          + "although no user logs in for a refresh; sign in again")
    }
    let contexts = expectation.essentialContexts
    guard contexts.isEmpty || claims.authenticationContextClass.map(contexts.contains) == true
    else {
      throw SQOAuthError(
        .idTokenAuthenticationContext,
        "the user was not authenticated in a way that the sign-in demands (\"acr\")")
    }
  }

  private func checkHashes(
    _ claims: IDTokenClaims, _ expectation: IDTokenExpectation
  ) throws(SQOAuthError) {
    if let hash = claims.accessTokenHash, hash != leftHalfHash(expectation.accessToken) {
      throw SQOAuthError(
        .idTokenAccessToken,
        "the ID token was issued with another access token than the one in the response")
    }
    if let hash = claims.codeHash, let code = expectation.code, hash != leftHalfHash(code) {
      throw SQOAuthError(
        .idTokenCode, "the ID token was issued with another code than the one in the redirect")
    }
  }

  /// Returns the left half of a text's digest in base64url, as in `at_hash` and `c_hash`.
  ///
  /// - SeeAlso: OpenID Connect Core 1.0, section 3.1.3.6
  private func leftHalfHash(_ text: String) -> String? {
    guard let digest = algorithm?.digest(Data(text.utf8)) else { return nil }
    return Base64URL.encode(digest.prefix(digest.count / 2))
  }
}
