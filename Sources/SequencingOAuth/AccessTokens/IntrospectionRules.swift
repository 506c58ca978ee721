import Basics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The rules for what an introspection says about a token.
///
/// - SeeAlso: RFC 7662, section 2.2
struct IntrospectionRules {
  /// The issuer that was asked; `nil` if it is not known.
  let issuer: String?
  let clockTolerance: Duration
  let now: Date

  private static let name = SignedText.introspection.name

  /// The types of an access token, in RFC 6749's words or by the name of the token itself.
  private static let types: Set = ["bearer", "dpop", "pop", "mac", "access_token"]
  /// What Keycloak calls the tokens that are no access tokens.
  private static let foreignTypes: Set = ["refresh", "offline", "id", "logout"]

  static func reader(_ claims: [String: JSONValue]) -> ClaimReader {
    ClaimReader(
      claims: claims, subject: name, missing: .invalidResponse, malformed: .invalidResponse)
  }

  /// The claims of the token; `nil` if it is not active.
  func check(_ members: [String: JSONValue]) throws(SQOAuthError) -> AccessTokenClaims? {
    guard let isActive = members["active"]?.bool else {
      throw SQOAuthError(.invalidResponse, "the \(Self.name) does not say whether it is active")
    }
    guard isActive else { return nil }
    let reader = Self.reader(members)
    let claims = try AccessTokenClaims(reader)
    try Self.checkType(members)
    if let issuer, let found = claims.issuer {
      guard found.utf8.elementsEqual(issuer.utf8) else {
        throw SQOAuthError(.invalidResponse, "the \(Self.name) is about another issuer's token")
      }
    }
    let tolerance = clockTolerance.seconds
    guard claims.expirationDate.map({ now < $0.addingTimeInterval(tolerance) }) ?? true,
      try reader.date("nbf").map({ $0 <= now.addingTimeInterval(tolerance) }) ?? true
    else { return nil }
    return claims
  }

  /// Refuses an answer about a refresh token or an ID token, which a caller must not use here.
  private static func checkType(_ members: [String: JSONValue]) throws(SQOAuthError) {
    let type = members["token_type"]?.string?.lowercased() ?? "bearer"
    let own = members["typ"]?.string?.lowercased() ?? ""
    guard types.contains(type), !foreignTypes.contains(own) else {
      throw SQOAuthError(
        .unexpectedTokenType,
        "the token is active, but it is no access token; a resource server must not accept it")
    }
  }
}
