import SQCrypto
import SQFoundation

/// The text of a JSON Web Token before its signature.
enum JWTText {
  /// Returns the header and the claims in base64url, which a signature covers.
  ///
  /// - SeeAlso: RFC 7515, section 5.1
  static func signingInput(
    _ header: [String: JSONValue], _ claims: [String: JSONValue]
  ) throws(SQOAuthError) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let header = try? encoder.encode(header), let claims = try? encoder.encode(claims) else {
      throw .unusableClientKey("its name or a claim cannot be written in JSON")
    }
    return Base64URL.encode(header) + "." + Base64URL.encode(claims)
  }
}
