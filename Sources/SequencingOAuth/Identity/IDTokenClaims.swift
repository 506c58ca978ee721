import SQBasics
import SQFoundation

/// The claims of an ID token, with checked types but otherwise not validated.
///
/// - SeeAlso: OpenID Connect Core 1.0, section 2; RFC 7519, section 4.1
struct IDTokenClaims: Sendable {
  let issuer: String
  let subject: String
  let audience: [String]
  let authorizedParty: String?
  let expirationDate: Date
  let issueDate: Date
  let notBefore: Date?
  let authenticationDate: Date?
  let authenticationContextClass: String?
  let authenticationMethods: [String]
  let sessionID: String?
  let nonce: String?
  let accessTokenHash: String?
  let codeHash: String?
  let all: [String: JSONValue]

  /// Reads the claims.
  ///
  /// Throws if a required claim is missing, or if a claim has a wrong type. The claims about the
  /// user's login (`auth_time`, `acr` and `amr`) are an exception: if they cannot be read, they
  /// count as missing, and a request that demands them fails. Claims without a property are not
  /// checked.
  init(_ claims: [String: JSONValue]) throws(SQOAuthError) {
    let reader = ClaimReader(
      claims: claims, subject: "ID token", missing: .idTokenIncomplete, malformed: .idTokenMalformed
    )
    issuer = try reader.required("iss", reader.text)
    subject = try reader.required("sub", reader.text)
    audience = try reader.required("aud", reader.audience)
    expirationDate = try reader.required("exp", reader.date)
    issueDate = try reader.required("iat", reader.date)
    notBefore = try reader.date("nbf")
    authorizedParty = try reader.possibleText("azp")
    authenticationDate = reader.ifReadable("auth_time", reader.date)
    authenticationContextClass = reader.ifReadable("acr", reader.text)
    // IdentityServer and others write a single method as a string, not as an array.
    authenticationMethods =
      (claims["amr"].string == nil
        ? reader.ifReadable("amr", reader.texts)
        : reader.ifReadable("amr", reader.text).map { [$0] }) ?? []
    sessionID = try reader.possibleText("sid")
    nonce = try reader.possibleText("nonce")
    accessTokenHash = try reader.possibleText("at_hash")
    codeHash = try reader.possibleText("c_hash")
    all = claims
  }
}

extension IDTokenClaims: Redacted {}
