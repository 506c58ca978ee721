import CSQCrypto

#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  import Foundation
#endif

/// The OpenSSL of the process, which the SDK shares with libcurl and with the app.
package enum OpenSSL {
  /// Makes OpenSSL keep its state when the process exits; called before each possible first use.
  ///
  /// Otherwise OpenSSL would free its state early in `exit`, while requests and stores still use it
  /// on threads of their own, and the process would crash. If the app uses OpenSSL before the SDK
  /// does, OpenSSL has started already and this has no effect.
  ///
  /// - SeeAlso: OPENSSL_init_crypto(3)
  package static func begin() {
    OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
  }

  /// Runs calls that may fail, and removes their errors from OpenSSL's queue for this thread.
  ///
  /// The errors would otherwise show up after the next call of the app or of libcurl. Errors that
  /// were in the queue before stay there.
  ///
  /// - SeeAlso: ERR_set_mark(3)
  static func leavingNoErrors<Value>(_ body: () -> Value) -> Value {
    ERR_set_mark()
    defer { ERR_pop_to_mark() }
    return body()
  }

  /// Compares two secrets in a time that does not depend on where they differ.
  package static func areEqual(_ one: Data, _ other: Data) -> Bool {
    guard one.count == other.count else { return false }
    return one.withUnsafeBytes { one in
      other.withUnsafeBytes { other in
        CRYPTO_memcmp(one.baseAddress, other.baseAddress, one.count) == 0
      }
    }
  }
}
