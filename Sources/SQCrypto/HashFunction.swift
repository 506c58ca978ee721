import CSQCrypto

/// A hash function of the SHA-2 family.
package enum HashFunction: Sendable, Hashable, CaseIterable {
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

  /// The implementation from the machine's OpenSSL configuration; if that offers none, OpenSSL's
  /// default implementation.
  var implementation: OpaquePointer? {
    switch self {
    case .sha256: Self.sha256Implementation
    case .sha384: Self.sha384Implementation
    case .sha512: Self.sha512Implementation
    }
  }

  /// The implementation in OpenSSL's default provider, which no configuration of the machine can
  /// take away.
  ///
  /// Hash functions are used where no error can be reported: for the names of files, and to tell a
  /// whole store from a damaged one. This implementation breaks no rule of the machine about keys,
  /// because a hash function uses no key.
  var ownImplementation: OpaquePointer? { Self.ownImplementations[self] }

  private var name: String {
    switch self {
    case .sha256: "SHA2-256"
    case .sha384: "SHA2-384"
    case .sha512: "SHA2-512"
    }
  }

  // Fetched once, because a fetch takes longer than the digest of a token; never changed later.
  nonisolated(unsafe) private static let sha256Implementation = fetched(.sha256)
  nonisolated(unsafe) private static let sha384Implementation = fetched(.sha384)
  nonisolated(unsafe) private static let sha512Implementation = fetched(.sha512)

  /// The implementations from a library context that reads no configuration; fetched on first use.
  nonisolated(unsafe) private static let ownImplementations: [HashFunction: OpaquePointer] = {
    OpenSSL.leavingNoErrors {
      let context = OSSL_LIB_CTX_new()
      return Dictionary(
        uniqueKeysWithValues: allCases.map { ($0, EVP_MD_fetch(context, $0.name, nil)) }
      ).compactMapValues(\.self)
    }
  }()

  private static func fetched(_ function: HashFunction) -> OpaquePointer? {
    OpenSSL.begin()
    return OpenSSL.leavingNoErrors { EVP_MD_fetch(nil, function.name, nil) }
      ?? function.ownImplementation
  }
}
