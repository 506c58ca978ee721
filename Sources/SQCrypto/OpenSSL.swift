import CSQCrypto
package import SQFoundation

/// Functions for the OpenSSL library, which the SDK shares with libcurl and the app.
package enum OpenSSL {
  /// Makes OpenSSL keep its state when the process exits.
  ///
  /// Call it before each possible first use of OpenSSL. Otherwise OpenSSL would free its state
  /// early in `exit`, while requests and stores still use it on their own threads, and the process
  /// would crash. If the app uses OpenSSL before the SDK, this has no effect.
  ///
  /// - SeeAlso: OPENSSL_init_crypto(3)
  package static func begin() {
    OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
  }

  /// Runs calls that may fail, and removes their errors from OpenSSL's queue for this thread.
  ///
  /// Otherwise the app or libcurl would find these errors after its next call. Earlier errors stay
  /// in the queue.
  ///
  /// - SeeAlso: ERR_set_mark(3)
  package static func leavingNoErrors<Value>(_ body: () -> Value) -> Value {
    ERR_set_mark()
    defer { ERR_pop_to_mark() }
    return body()
  }

  /// Compares two secrets in constant time.
  package static func areEqual(_ one: Data, _ other: Data) -> Bool {
    guard one.count == other.count else { return false }
    return one.withUnsafeBytes { one in
      other.withUnsafeBytes { other in
        CRYPTO_memcmp(one.baseAddress, other.baseAddress, one.count) == 0
      }
    }
  }
}
