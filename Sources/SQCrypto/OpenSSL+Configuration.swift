import CSQCrypto

// The algorithms of this process's OpenSSL; the machine's configuration can remove some of them.
extension OpenSSL {
  /// An algorithm, with the name by which OpenSSL fetches it.
  package enum Algorithm: Sendable, Hashable {
    case digest(String)
    case asymmetric(String)
    case cipher(String)
    case derivation(String)
    case random(String)

    var name: String {
      switch self {
      case .digest(let name), .cipher(let name), .derivation(let name), .random(let name): name
      case .asymmetric(let name): "\(name) keys"
      }
    }

    /// Whether a provider that is loaded in this process has the algorithm.
    var isOffered: Bool {
      switch self {
      case .digest(let name): Self.isThere(EVP_MD_fetch(nil, name, nil), EVP_MD_free)
      case .asymmetric(let name): Self.isThere(EVP_KEYMGMT_fetch(nil, name, nil), EVP_KEYMGMT_free)
      case .cipher(let name): Self.isThere(EVP_CIPHER_fetch(nil, name, nil), EVP_CIPHER_free)
      case .derivation(let name): Self.isThere(EVP_KDF_fetch(nil, name, nil), EVP_KDF_free)
      case .random(let name): Self.isThere(EVP_RAND_fetch(nil, name, nil), EVP_RAND_free)
      }
    }

    private static func isThere(
      _ implementation: OpaquePointer?, _ free: (OpaquePointer?) -> Void
    ) -> Bool {
      free(implementation)
      return implementation != nil
    }
  }

  /// The algorithms that every general-purpose provider has, even a FIPS provider.
  private static let general: [Algorithm] = [
    .digest("SHA2-256"), .asymmetric("EC"), .asymmetric("RSA"), .cipher("AES-256-GCM"),
    .derivation("HKDF"), .random("CTR-DRBG"),
  ]
  /// The first general algorithm that is missing; `nil` if none is missing.
  ///
  /// It is determined once, because OpenSSL reads its configuration only once, and because forged
  /// tokens could otherwise make a server repeat this work many times.
  private static let missing = leavingNoErrors { general.first { !$0.isOffered } }

  /// Returns what OpenSSL lacks to do a job, and where to mend that; `nil` if nothing is missing.
  ///
  /// `needed` is an algorithm that the job needs and that some providers lack. Call it only after a
  /// failure, to find out whether the cause is OpenSSL's configuration or the data.
  package static func lack(_ needed: Algorithm? = nil) -> String? {
    begin()
    let isWithoutNeeded = leavingNoErrors { needed.map { !$0.isOffered } ?? false }
    return (isWithoutNeeded ? needed : missing).map { missing in
      "the OpenSSL of this process offers no \(missing.name): mend its configuration, the file that "
        + "the variable OPENSSL_CONF names or the system's openssl.cnf, and the providers that it "
        + "activates"
    }
  }

  /// Returns a text about a failed call, and adds what OpenSSL lacks for that call, if anything.
  package static func explained(_ failure: String, needing needed: Algorithm? = nil) -> String {
    lack(needed).map { "\(failure): \($0)" } ?? failure
  }
}

extension PublicKey.Kind {
  /// The algorithm by which OpenSSL offers keys of this kind.
  package var algorithm: OpenSSL.Algorithm {
    switch self {
    case .rsa: .asymmetric("RSA")
    case .ellipticCurve: .asymmetric("EC")
    case .ed25519: .asymmetric("ED25519")
    }
  }
}
