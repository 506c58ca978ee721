import SQCrypto
import SQFoundation

/// The signature scheme and the hash function of each algorithm.
extension JWSAlgorithm {
  /// The scheme of a public-key signature; `nil` if the key is a shared secret.
  var scheme: SignatureScheme? {
    switch self {
    case .rs256, .rs384, .rs512: .rsaPKCS1(hashFunction)
    case .ps256, .ps384, .ps512: .rsaPSS(hashFunction)
    case .es256: .ecdsa(.p256, hashFunction)
    case .es384: .ecdsa(.p384, hashFunction)
    case .es512: .ecdsa(.p521, hashFunction)
    case .edDSA: .ed25519
    case .hs256, .hs384, .hs512: nil
    }
  }

  /// Whether the key is a secret that the signer and the client share.
  package var isSymmetric: Bool { scheme == nil }

  /// The kind of public key; `nil` if the key is a shared secret.
  var keyType: PublicKey.Kind? { scheme?.keyKind }

  /// The hash function of the algorithm; Ed25519 uses SHA-512 inside.
  var hashFunction: HashFunction {
    switch self {
    case .rs256, .ps256, .es256, .hs256: .sha256
    case .rs384, .ps384, .es384, .hs384: .sha384
    case .rs512, .ps512, .es512, .hs512, .edDSA: .sha512
    }
  }

  /// Returns the digest of bytes with the algorithm's hash function, for `at_hash` and `c_hash`.
  ///
  /// - SeeAlso: OpenID Connect Core 1.0, section 3.1.3.6
  func digest(_ bytes: Data) -> Data { Digest.digest(bytes, by: hashFunction) }

  /// The size of a digest in bytes; also the smallest size of a shared secret.
  ///
  /// - SeeAlso: RFC 7518, section 3.2
  var digestSize: Int { hashFunction.digestSize }
}
