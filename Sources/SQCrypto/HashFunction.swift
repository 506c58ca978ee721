import CSQCrypto

/// A hash function of the SHA-2 family.
package enum HashFunction: Sendable, Hashable {
  case sha256
  case sha384
  case sha512

  /// The size of a digest in bytes.
  package var digestSize: Int {
    switch self {
    case .sha256: 32
    case .sha384: 48
    case .sha512: 64
    }
  }

  /// OpenSSL's implementation of the hash function.
  var implementation: OpaquePointer {
    switch self {
    case .sha256: Self.sha256Implementation
    case .sha384: Self.sha384Implementation
    case .sha512: Self.sha512Implementation
    }
  }

  // Fetched once, because a fetch takes longer than the digest of a token; never changed later.
  nonisolated(unsafe) private static let sha256Implementation = implementation("SHA2-256")
  nonisolated(unsafe) private static let sha384Implementation = implementation("SHA2-384")
  nonisolated(unsafe) private static let sha512Implementation = implementation("SHA2-512")

  private static func implementation(_ name: String) -> OpaquePointer {
    OpenSSL.begin()
    guard let implementation = EVP_MD_fetch(nil, name, nil) else {
      // Without the hash function, a code challenge would be wrong, and no signature could be
      // verified.
      preconditionFailure("libcrypto has no \(name)")
    }
    return implementation
  }
}
