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

extension KeyDerivation.Secret {
  /// Creates a secret from a passphrase and the cost for a new store; throws if the passphrase is
  /// empty.
  static func checked(
    _ passphrase: String, cost: KeyDerivation.ScryptCost = .standard
  ) throws(SQOAuthError) -> Self {
    guard !passphrase.isEmpty else {
      throw SQOAuthError(.invalidConfiguration, "a passphrase must not be empty")
    }
    return .passphrase(passphrase, cost)
  }
}
