import SQCrypto
import SQFoundation

extension SQOAuthError {
  /// Returns the error for a new key that OpenSSL cannot generate.
  static func cannotMakeKey(_ kind: PublicKey.Kind) -> SQOAuthError {
    SQOAuthError(
      .clientKeyFailed,
      OpenSSL.explained("libcrypto cannot make a key", needing: kind.algorithm))
  }

  /// Returns the error for a key that cannot be read because of OpenSSL's configuration; `nil` if
  /// OpenSSL lacks nothing, which means that the key itself is wrong.
  static func lackForReadingKey(_ needed: OpenSSL.Algorithm? = nil) -> SQOAuthError? {
    OpenSSL.lack(needed).map {
      SQOAuthError(.clientKeyFailed, "the client key cannot be read: \($0)")
    }
  }
}

/// Signing with a client's key.
extension ClientKey {
  /// Returns a signed JSON Web Token with these claims.
  ///
  /// `listed` has the names of the algorithms that the server accepts; `nil` if the server has no
  /// list.
  ///
  /// - Throws: ``SQOAuthError/Code/clientKeyFailed`` if the key cannot sign.
  /// - SeeAlso: RFC 7515, section 7.1; RFC 7519, section 7.1
  func sign(
    _ claims: [String: JSONValue], type: String = "JWT", listed: [String]? = nil
  ) async throws(SQOAuthError) -> String {
    var header: [String: JSONValue] = [
      "alg": .string(algorithm.name(in: listed)), "typ": .string(type),
    ]
    header["kid"] = keyID.map(JSONValue.string)
    let input = try JWTText.signingInput(header, claims)
    return input + "." + Base64URL.encode(try await signature(of: Data(input.utf8)))
  }

  func signature(of message: Data) async throws(SQOAuthError) -> Data {
    // The initializers reject an algorithm without a scheme.
    guard let scheme = algorithm.scheme else { throw .unusableClientKey("it cannot sign") }
    switch signer {
    case .here(let key):
      guard let signature = key.signature(of: message, by: scheme) else {
        throw SQOAuthError(
          .clientKeyFailed,
          OpenSSL.explained(
            "libcrypto could not sign with the client's key", needing: key.kind.algorithm))
      }
      return signature
    case .elsewhere(let signer):
      return try await signer.signature(of: message, by: scheme)
    }
  }
}
