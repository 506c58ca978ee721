import SQBasics
import SequencingOAuth

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
  /// Whether an answer without `token_type` is refused.
  var requiresTokenType = false

  private static let name = SignedText.introspection.name

  /// The types of an access token, in RFC 6749's words or by the name of the token itself.
  private static let types: Set = ["bearer", "dpop", "pop", "mac", "access_token"]
  /// The uses of an access token: Ory Hydra writes `access_token`, Amazon Cognito `access`.
  private static let uses: Set = ["access_token", "access"]
  /// What Keycloak calls the tokens that are no access tokens (`typ`).
  private static let foreignTypes: Set = ["refresh", "offline", "id", "serialized-id", "logout"]

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
    let reader = Self.reader(Self.said(members))
    let claims = try AccessTokenClaims(reader)
    try checkType(members)
    if let issuer, let found = claims.issuer {
      guard found == issuer else {
        throw SQOAuthError(
          .invalidResponse,
          "the \(Self.name) is about another issuer's token: it names \"\(found.printable)\" and "
            + "not \"\(issuer.printable)\"")
      }
    }
    let tolerance = clockTolerance.seconds
    guard claims.expirationDate.map({ now < $0.addingTimeInterval(tolerance) }) ?? true,
      try reader.date("nbf").map({ $0 <= now.addingTimeInterval(tolerance) }) ?? true
    else { return nil }
    return claims
  }

  /// The members without those that say nothing.
  ///
  /// Some servers write zero for a token that does not end; that it is active, they have said. Many
  /// write an empty text for what a token does not have. No rule needs the moment of its issue or its
  /// identifier, so those may be of any type.
  private static func said(_ members: [String: JSONValue]) -> [String: JSONValue] {
    var said = members.filter { $0.value != "" }
    if said["exp"] == 0 { said["exp"] = nil }
    let reader = reader(said)
    if reader.ifReadable("iat", reader.date) == nil { said["iat"] = nil }
    if reader.ifReadable("jti", reader.text) == nil { said["jti"] = nil }
    return said
  }

  /// Refuses an answer about a refresh token or an ID token, which a caller must not use here.
  private func checkType(_ members: [String: JSONValue]) throws(SQOAuthError) {
    // Some servers write `null` for a member that they do not use.
    let members = members.filter { $0.value != .null }
    guard !requiresTokenType || members["token_type"] != nil else {
      throw SQOAuthError(
        .unexpectedTokenType,
        "the \(Self.name) does not say of which type the token is (\"token_type\")")
    }
    let own = members["typ"]?.string?.asciiLowercased() ?? ""
    guard Self.allows(members["token_type"], Self.types),
      Self.allows(members["token_use"], Self.uses), !Self.foreignTypes.contains(own)
    else {
      throw SQOAuthError(
        .unexpectedTokenType,
        "the token is active, but it is no access token; a resource server must not accept it")
    }
  }

  /// Whether a member is missing or has one of some values.
  private static func allows(_ member: JSONValue?, _ values: Set<String>) -> Bool {
    guard let member else { return true }
    return member.string.map { values.contains($0.asciiLowercased()) } ?? false
  }
}
