import CSQCrypto

/// An algorithm that signs the sandbox's tokens, named as in a token's `alg`.
///
/// - SeeAlso: RFC 7518, section 3.1; RFC 8037, section 3.1
public enum SandboxSigningAlgorithm: String, Sendable, Hashable, CaseIterable {
  /// RSASSA-PKCS1-v1_5 with SHA-256, the default of OpenID Connect.
  case rs256 = "RS256"
  /// RSASSA-PKCS1-v1_5 with SHA-384.
  case rs384 = "RS384"
  /// RSASSA-PKCS1-v1_5 with SHA-512.
  case rs512 = "RS512"
  /// RSASSA-PSS with SHA-256.
  case ps256 = "PS256"
  /// RSASSA-PSS with SHA-384.
  case ps384 = "PS384"
  /// RSASSA-PSS with SHA-512.
  case ps512 = "PS512"
  /// ECDSA on P-256 with SHA-256.
  case es256 = "ES256"
  /// ECDSA on P-384 with SHA-384.
  case es384 = "ES384"
  /// ECDSA on P-521 with SHA-512.
  case es512 = "ES512"
  /// Ed25519.
  case edDSA = "EdDSA"
  /// HMAC with SHA-256 and the client's secret.
  case hs256 = "HS256"
  /// HMAC with SHA-384 and the client's secret.
  case hs384 = "HS384"
  /// HMAC with SHA-512 and the client's secret.
  case hs512 = "HS512"

  /// The family of an algorithm, which determines its keys.
  enum Family {
    case rsa
    case pss
    case ecdsa(curve: String, coordinateBytes: Int)
    case ed25519
    case hmac

    /// The members that name the key type and the curve in a JSON Web Key (RFC 7518, section 6.1;
    /// RFC 8037, section 2).
    var keyType: [SandboxJSON.Member] {
      switch self {
      case .rsa, .pss: [.init("kty", "RSA")]
      case .ecdsa(let curve, _): [.init("kty", "EC"), .init("crv", .string(curve))]
      case .ed25519: [.init("kty", "OKP"), .init("crv", "Ed25519")]
      case .hmac: [.init("kty", "oct")]
      }
    }
  }

  var family: Family {
    switch self {
    case .rs256, .rs384, .rs512: .rsa
    case .ps256, .ps384, .ps512: .pss
    case .es256: .ecdsa(curve: "P-256", coordinateBytes: 32)
    case .es384: .ecdsa(curve: "P-384", coordinateBytes: 48)
    case .es512: .ecdsa(curve: "P-521", coordinateBytes: 66)
    case .edDSA: .ed25519
    case .hs256, .hs384, .hs512: .hmac
    }
  }

  var usesSecret: Bool {
    if case .hmac = family { true } else { false }
  }

  /// The algorithm's hash function.
  ///
  /// For Ed25519 it is SHA-512, the usual choice for `at_hash`; EdDSA signatures name no hash.
  var hash: OpaquePointer? {
    switch self {
    case .rs256, .ps256, .es256, .hs256: EVP_sha256()
    case .rs384, .ps384, .es384, .hs384: EVP_sha384()
    case .rs512, .ps512, .es512, .hs512, .edDSA: EVP_sha512()
    }
  }
}
