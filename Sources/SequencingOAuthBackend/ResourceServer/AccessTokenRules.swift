import SQBasics
import SQFoundation
import SequencingOAuth

/// The rules for the claims of an access token whose signature was verified.
///
/// - SeeAlso: RFC 9068, sections 2.2 and 4
struct AccessTokenRules {
  /// The issuer that the token must name; `nil` if the token is from no allowed tenant.
  let issuer: String?
  let audience: String
  let profile: AccessTokenValidator.Profile
  let dates: AccessTokenDates

  /// Claims that ID tokens and logout tokens have; an access token has none of them.
  private static let foreignClaims = ["nonce", "at_hash", "c_hash", "events"]

  /// Returns the claims if they follow all rules.
  func check(_ members: [String: JSONValue]) throws(SQOAuthError) -> AccessTokenClaims {
    let reader = ClaimReader(accessToken: members)
    let claims = try AccessTokenClaims(reader, clockTolerance: dates.clockTolerance)
    try checkParties(claims, reader)
    try dates.check(claims)
    switch profile {
    case .rfc9068:
      for name in ["sub", "client_id", "jti"] { _ = try reader.required(name, reader.text) }
      _ = try reader.required("iat", reader.date)
    case .anyJWT:
      guard !Self.foreignClaims.contains(where: { members[$0] ?? .null != .null }) else {
        throw .accessToken("has claims of another type of token")
      }
    }
    return claims
  }

  private func checkParties(
    _ claims: AccessTokenClaims, _ reader: ClaimReader
  ) throws(SQOAuthError) {
    let found = try reader.required("iss", reader.text)
    guard let issuer else {
      throw .accessToken("is from no tenant that the provider's configuration allows")
    }
    guard found == issuer else {
      throw .accessToken(
        "is from another issuer: it names \"\(found.printable)\" and not \"\(issuer.printable)\"")
    }
    _ = try reader.required("aud", reader.audience)
    try claims.require(audience: audience)
  }
}

/// The rules for the dates of an access token; they are checked at each use of the token.
struct AccessTokenDates {
  let now: Date
  let clockTolerance: Duration

  func check(_ claims: AccessTokenClaims) throws(SQOAuthError) {
    let reader = ClaimReader(accessToken: claims.claims)
    let clock = ClaimClock(now: now, tolerance: clockTolerance)
    let end = try reader.required("exp", reader.date)
    guard !clock.hasEnded(end) else { throw .accessToken("has expired") }
    guard !(claims.issueDate.map(clock.isAhead) ?? false) else {
      throw .accessToken("was issued in the future")
    }
    guard !(try reader.date("nbf").map(clock.isAhead) ?? false) else {
      throw .accessToken("is not valid yet")
    }
  }
}

extension ClaimReader {
  fileprivate init(accessToken members: [String: JSONValue]) {
    self.init(
      claims: members, subject: SignedText.accessToken(isTyped: true).name,
      missing: .accessTokenInvalid, malformed: .accessTokenInvalid)
  }
}

extension SQOAuthError {
  fileprivate static func accessToken(_ reason: String) -> Self {
    SQOAuthError(.accessTokenInvalid, "the access token \(reason)")
  }
}
