import SQBasics
import SQFoundation
import SequencingOAuth

/// The rules for the claims of an access token whose signature was verified.
///
/// - SeeAlso: RFC 9068, sections 2.2 and 4
struct AccessTokenRules {
  let issuer: String
  let audience: String
  let profile: AccessTokenValidator.Profile
  let clockTolerance: Duration
  let now: Date

  /// Claims that ID tokens and logout tokens have; an access token has none of them.
  private static let foreignClaims = ["nonce", "at_hash", "c_hash", "events"]

  /// Returns the claims if they follow all rules.
  func check(_ members: [String: JSONValue]) throws(SQOAuthError) -> AccessTokenClaims {
    let reader = Self.reader(of: members)
    let claims = try AccessTokenClaims(reader)
    try checkParties(claims, reader)
    try checkTimes(claims, reader)
    switch profile {
    case .rfc9068:
      for name in ["sub", "client_id", "jti"] { _ = try reader.required(name, reader.text) }
      _ = try reader.required("iat", reader.date)
    case .anyJWT:
      try require(
        !Self.foreignClaims.contains { members[$0] ?? .null != .null },
        "has claims of another type of token")
    }
    return claims
  }

  /// Checks again the rules whose result may change while a token is valid.
  func checkAgain(_ claims: AccessTokenClaims) throws(SQOAuthError) {
    let reader = Self.reader(of: claims.claims)
    try checkParties(claims, reader)
    try checkTimes(claims, reader)
  }

  private static func reader(of members: [String: JSONValue]) -> ClaimReader {
    ClaimReader(
      claims: members, subject: SignedText.accessToken(isTyped: true).name,
      missing: .accessTokenInvalid, malformed: .accessTokenInvalid)
  }

  private func checkParties(
    _ claims: AccessTokenClaims, _ reader: ClaimReader
  ) throws(SQOAuthError) {
    let found = try reader.required("iss", reader.text)
    try require(
      found == issuer,
      "is from another issuer: it names \"\(found.printable)\" and not \"\(issuer.printable)\"")
    _ = try reader.required("aud", reader.audience)
    try require(
      claims.audience.contains { $0 == audience }, "is for another service")
  }

  private func checkTimes(
    _ claims: AccessTokenClaims, _ reader: ClaimReader
  ) throws(SQOAuthError) {
    let tolerance = clockTolerance.seconds
    let end = try reader.required("exp", reader.date)
    try require(now < end.addingTimeInterval(tolerance), "has expired")
    let latest = now.addingTimeInterval(tolerance)
    try require(claims.issueDate.map { $0 <= latest } ?? true, "was issued in the future")
    try require(try reader.date("nbf").map { $0 <= latest } ?? true, "is not valid yet")
  }

  private func require(_ condition: Bool, _ reason: @autoclosure () -> String) throws(SQOAuthError)
  {
    guard condition else {
      throw SQOAuthError(.accessTokenInvalid, "the access token \(reason())")
    }
  }
}
