import SQCrypto
import SQFoundation

/// The text of a JSON Web Token before its signature.
enum JWTText {
  /// Returns the text that the signature covers: the header and the claims in base64url.
  ///
  /// - SeeAlso: RFC 7515, section 5.1
  static func signingInput(
    _ header: [String: JSONValue], _ claims: [String: JSONValue]
  ) throws(SQOAuthError) -> String {
    let header = try JSONValue.object(header).json("the header of a signed text")
    let claims = try JSONValue.object(claims).json("a claim of a signed text")
    return Base64URL.encode(header) + "." + Base64URL.encode(claims)
  }
}
