import CCrypto

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The process's one OpenSSL, which the SDK shares with libcurl and with the app.
enum OpenSSL {
  /// Has OpenSSL leave its state alone when the process exits; comes before what may use it first.
  ///
  /// It would otherwise free that state early in `exit`, while requests and stores still use it on
  /// threads of their own, which ends in a crash instead of the exit. An app that uses OpenSSL
  /// before the SDK does has decided this by then.
  ///
  /// - SeeAlso: OPENSSL_init_crypto(3)
  static func begin() {
    OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
  }

  /// Compares two secrets in a time that does not tell where they differ.
  static func areEqual(_ one: Data, _ other: Data) -> Bool {
    guard one.count == other.count else { return false }
    return one.withUnsafeBytes { one in
      other.withUnsafeBytes { other in
        CRYPTO_memcmp(one.baseAddress, other.baseAddress, one.count) == 0
      }
    }
  }
}
