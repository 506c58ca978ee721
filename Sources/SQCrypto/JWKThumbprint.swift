/// The thumbprint of a public key: the digest of the JSON Web Key members that determine the key.
///
/// - SeeAlso: RFC 7638, section 3
package enum JWKThumbprint {
  /// Returns the SHA-256 thumbprint of the key that these members determine.
  package static func of(_ members: [String: String]) -> String {
    Base64URL.encode(Digest.sha256(text(of: members)))
  }

  /// Returns the text to digest: the members in the order of their names, without spaces.
  ///
  /// In a valid key, no value needs escaping: each one is Base64url, or the name of a curve or a
  /// type.
  package static func text(of members: [String: String]) -> String {
    let texts = members.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\"\($0.value)\"" }
    return "{" + texts.joined(separator: ",") + "}"
  }
}
