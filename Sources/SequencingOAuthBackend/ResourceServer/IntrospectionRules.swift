import SQBasics
import SQFoundation
import SequencingOAuth

/// The rules for the members of an introspection response.
///
/// - SeeAlso: RFC 7662, section 2.2
struct IntrospectionRules {
  /// The issuer of the server; `nil` if it is not known.
  let issuer: String?
  let clockTolerance: Duration
  let now: Date
  /// Whether a response without `token_type` is rejected.
  var requiresTokenType = false

  private static let name = SignedText.introspection.name

  /// The values of `token_type` for an access token: types such as Bearer and DPoP, and the name
  /// `access_token`.
  private static let types: Set = ["bearer", "dpop", "pop", "mac", "access_token"]
  /// The values of `token_use` for an access token, from Ory Hydra and Amazon Cognito.
  private static let uses: Set = ["access_token", "access"]
  /// Keycloak's values of `typ` for tokens that are not access tokens.
  private static let foreignTypes: Set = ["refresh", "offline", "id", "serialized-id", "logout"]

  static func reader(_ claims: [String: JSONValue]) -> ClaimReader {
    ClaimReader(
      claims: claims, subject: name, missing: .invalidResponse, malformed: .invalidResponse)
  }

  /// Returns the claims of the token; `nil` if it is not active.
  func check(_ members: [String: JSONValue]) throws(SQOAuthError) -> AccessTokenClaims? {
    guard let isActive = members["active"]?.bool else {
      throw SQOAuthError(
        .invalidResponse,
        "the \(Self.name) does not say if the token is active (\"active\" must be true or false)")
    }
    guard isActive else { return nil }
    let reader = Self.reader(Self.said(members))
    let claims = try AccessTokenClaims(reader, clockTolerance: clockTolerance)
    try checkType(members)
    if let issuer, let found = claims.issuer {
      guard found == issuer else {
        throw SQOAuthError(
          .invalidResponse,
          "the \(Self.name) is about another issuer's token: it names \"\(found.printable)\" and "
            + "not \"\(issuer.printable)\"")
      }
    }
    let clock = ClaimClock(now: now, tolerance: clockTolerance)
    let hasEnded = claims.expirationDate.map(clock.hasEnded) ?? false
    guard !hasEnded, !(try reader.date("nbf").map(clock.isAhead) ?? false) else { return nil }
    return claims
  }

  /// Removes members without a meaning, such as an empty string.
  ///
  /// Some servers send an `exp` of zero for an active token that does not expire. Many send an
  /// empty string for a missing value. No rule needs `iat` or `jti`, so they are removed if they
  /// cannot be read.
  private static func said(_ members: [String: JSONValue]) -> [String: JSONValue] {
    var said = members.filter { $0.value != "" }
    if said["exp"] == 0 { said["exp"] = nil }
    let reader = reader(said)
    if reader.ifReadable("iat", reader.date) == nil { said["iat"] = nil }
    if reader.ifReadable("jti", reader.text) == nil { said["jti"] = nil }
    return said
  }

  /// Throws if the response is about a token of another kind, such as a refresh token.
  private func checkType(_ members: [String: JSONValue]) throws(SQOAuthError) {
    // Some servers send `null` for a member that they do not use.
    let members = members.filter { $0.value != .null }
    guard !requiresTokenType || members["token_type"] != nil else {
      throw SQOAuthError(
        .unexpectedTokenType,
        "the \(Self.name) does not contain the token's type (\"token_type\")")
    }
    let own = members["typ"]?.string?.asciiLowercased() ?? ""
    guard Self.allows(members["token_type"], Self.types),
      Self.allows(members["token_use"], Self.uses), !Self.foreignTypes.contains(own)
    else {
      throw SQOAuthError(
        .unexpectedTokenType,
        "the token is active, but its type is not that of an access token; a resource server must "
          + "not accept it")
    }
  }

  /// Returns whether a member is missing or has one of the values.
  private static func allows(_ member: JSONValue?, _ values: Set<String>) -> Bool {
    guard let member else { return true }
    return member.string.map { values.contains($0.asciiLowercased()) } ?? false
  }
}
