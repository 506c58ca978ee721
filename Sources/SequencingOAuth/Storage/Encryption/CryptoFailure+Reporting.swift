package import SQCrypto

extension CryptoFailure {
  /// Runs calls of OpenSSL, and turns their error into ``SQOAuthError/Code/storeFailed``.
  package static func reported<Value>(
    _ calls: () throws(CryptoFailure) -> Value
  ) throws(SQOAuthError) -> Value {
    do throws(CryptoFailure) {
      return try calls()
    } catch {
      throw SQOAuthError(.storeFailed, error.description)
    }
  }
}
