/// A signature scheme: an algorithm with its padding or curve, and its hash function.
package enum SignatureScheme: Sendable, Hashable {
  /// RSA with PKCS #1 v1.5 padding (RSASSA-PKCS1-v1_5).
  case rsaPKCS1(HashFunction)
  /// RSA with PSS padding; MGF1 uses the same hash function, and the salt is as long as a digest.
  case rsaPSS(HashFunction)
  /// ECDSA; the signature consists of r and s, each in the size of a coordinate.
  case ecdsa(EllipticCurve, HashFunction)
  /// EdDSA with the curve edwards25519 (RFC 8032).
  case ed25519

  /// The kind of key that the scheme needs.
  package var keyKind: PublicKey.Kind {
    switch self {
    case .rsaPKCS1, .rsaPSS: .rsa
    case .ecdsa(let curve, _): .ellipticCurve(curve)
    case .ed25519: .ed25519
    }
  }

  /// The hash function for the message; `nil` if the scheme signs the message itself.
  var hashFunction: HashFunction? {
    switch self {
    case .rsaPKCS1(let function), .rsaPSS(let function), .ecdsa(_, let function): function
    case .ed25519: nil
    }
  }
}
