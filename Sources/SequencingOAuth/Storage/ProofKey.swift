import SQBasics
import SQCrypto
import SQFoundation

/// The key to which an account's tokens are bound, in the form in which a store keeps it.
///
/// Without the key, the tokens are useless. An account gets its key at the sign-in, and every
/// refresh keeps it.
///
/// - SeeAlso: RFC 9449, section 5
package struct ProofKey: Sendable {
  /// The name of the signature algorithm in the header of proofs, such as `ES256`.
  package let algorithm: String
  /// The SHA-256 thumbprint of the public key (RFC 7638).
  package let thumbprint: String
  /// The private key, and the header of its proofs with the public key; `nil` if the app keeps the
  /// key itself, so that the store does not have it.
  let pair: (privateKey: PrivateKey, header: String)?

  /// Creates a key that is stored with the account.
  init(_ key: PrivateKey, algorithm: String) {
    let members = key.publicMembers
    self.algorithm = algorithm
    thumbprint = JWKThumbprint.of(members)
    pair = (key, Self.header(algorithm: algorithm, publicMembers: members))
  }

  /// Returns the header of a key's proofs in base64url, followed by a dot.
  static func header(algorithm: String, publicMembers: [String: String]) -> String {
    let publicJWK = JWKThumbprint.text(of: publicMembers)
    let header = "{\"alg\":\"\(algorithm)\",\"jwk\":\(publicJWK),\"typ\":\"dpop+jwt\"}"
    return Base64URL.encode(header) + "."
  }

  /// Creates a reference to a key that the app keeps itself.
  package init(ofApp thumbprint: String, algorithm: String) {
    self.algorithm = algorithm
    self.thumbprint = thumbprint
    pair = nil
  }
}

// The two names of the algorithm, `EdDSA` and `Ed25519`, count as equal: which of them the SDK
// sends depends on the names in the server's metadata.
extension ProofKey: Hashable {
  package static func == (one: ProofKey, other: ProofKey) -> Bool {
    one.thumbprint == other.thumbprint && one.algorithmName == other.algorithmName
      && (one.pair == nil) == (other.pair == nil)
  }

  private var algorithmName: String { algorithm == "Ed25519" ? "EdDSA" : algorithm }

  package func hash(into hasher: inout Hasher) { hasher.combine(thumbprint) }
}

/// An error: OpenSSL's configuration lacks an algorithm that reading a stored key needs.
///
/// The store is not damaged, and its key is still valid.
struct KeyUnread: Error {
  let lack: String
}

extension ProofKey: Codable {
  enum CodingKeys: String, CodingKey {
    case algorithm = "alg"
    /// The private key: PKCS #8 in DER, in Base64.
    case key
    /// The thumbprint of a key that the app keeps itself.
    case thumbprint = "jkt"
  }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let algorithm = try container.decode(String.self, forKey: .algorithm)
    guard let text = try container.decodeIfPresent(String.self, forKey: .key) else {
      let thumbprint = try container.decode(String.self, forKey: .thumbprint)
      self.init(ofApp: thumbprint, algorithm: algorithm)
      return
    }
    guard let key = PrivateKey(pem: Data((Self.begin + text + Self.end).utf8), passphrase: nil)
    else {
      // Some OpenSSL providers lack Ed25519 keys, whose algorithm is `EdDSA`, or `Ed25519` since
      // RFC 9864. Every provider has the other kinds of keys.
      let needed = algorithm.hasPrefix("Ed") ? PublicKey.Kind.ed25519.algorithm : nil
      if let lack = OpenSSL.lack(needed) { throw KeyUnread(lack: lack) }
      throw DecodingError.dataCorruptedError(
        forKey: .key, in: container, debugDescription: "it is not a private key")
    }
    self.init(key, algorithm: algorithm)
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(algorithm, forKey: .algorithm)
    if let text = try storedKey {
      try container.encode(text, forKey: .key)
    } else {
      try container.encode(thumbprint, forKey: .thumbprint)
    }
  }

  /// The private key as text; `nil` for a key that the app keeps itself.
  ///
  /// A key that cannot be written is an error: without its text, it would be stored as a key that
  /// the app keeps, and would be lost.
  var storedKey: String? {
    get throws(SQOAuthError) {
      guard let key = pair?.privateKey else { return nil }
      guard let pem = key.pem(passphrase: nil) else {
        throw SQOAuthError(
          .storeFailed,
          OpenSSL.explained(
            "libcrypto cannot write the account's key", needing: key.kind.algorithm))
      }
      return String(decoding: pem, as: UTF8.self).split(separator: "\n")
        .filter { !$0.hasPrefix("-----") }.joined()
    }
  }

  private static let begin = "-----BEGIN PRIVATE KEY-----\n"
  private static let end = "\n-----END PRIVATE KEY-----\n"
}

extension ProofKey: Redacted {
  /// The algorithm and the thumbprint, which are public.
  package var description: String { "proof key \(algorithm.printable) \(thumbprint.printable)" }
}
