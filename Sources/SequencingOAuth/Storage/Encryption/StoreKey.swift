public import SQBasics
package import SQCrypto
import SQFiles
public import SQFoundation

/// The source of an encrypted store's key: a passphrase, the key itself or a key file.
///
/// The store reads the key on first use, and throws if the key cannot be used.
public struct StoreKey: Sendable {
  enum Source: Sendable, Redacted {
    case passphrase(String, KeyDerivation.ScryptCost)
    case raw(Data)
    case file(path: String, passphrase: String?)
  }

  let source: Source

  /// Returns a key from a passphrase that the user knows; it must not be empty.
  ///
  /// The store derives its key from the passphrase once, by scrypt. The derivation takes a large
  /// part of a second. The passphrase is used as bytes: the same letters in a different Unicode
  /// normal form are a different passphrase.
  public static func passphrase(_ passphrase: String) -> Self {
    Self(source: .passphrase(passphrase, .standard))
  }

  /// Returns a key from a passphrase for tests, with the cheapest derivation that a store accepts.
  package static func quickPassphrase(_ passphrase: String) -> Self {
    Self(source: .passphrase(passphrase, .smallest))
  }

  /// Returns a key from exactly 32 random bytes; the app must keep them apart from the store.
  public static func raw(_ key: Data) -> Self {
    Self(source: .raw(key))
  }

  /// Returns a key from a file; if the file is missing, a new store creates it with a random key.
  ///
  /// The file has mode 0600. Anyone with both the store and the key file can read the tokens,
  /// unless the key file is sealed with a passphrase. So keep the two files apart, and do not put
  /// them in the same backup. A relative path begins at the process's working directory at this
  /// moment.
  public static func file(_ path: String, passphrase: String? = nil) -> Self {
    Self(source: .file(path: AbsolutePath.of(path), passphrase: passphrase))
  }
}

extension StoreKey: Redacted {
  /// The kind of key and the path of a key file, without the key or the passphrase.
  public var description: String {
    switch source {
    case .passphrase: "a key from a passphrase"
    case .raw: "a key"
    case .file(let path, let passphrase):
      "the key file \(path.printable)" + (passphrase == nil ? "" : " with a passphrase")
    }
  }
}

extension StoreKey {
  /// Reads and checks the key or the passphrase.
  ///
  /// If `makingFile` is `true`, a missing key file is created; otherwise it is an error.
  package func secret(makingFile: Bool) throws(SQOAuthError) -> KeyDerivation.Secret {
    switch source {
    case .passphrase(let passphrase, let cost):
      return try .checked(passphrase, cost: cost)
    case .raw(let key):
      guard key.count == EncryptionService.keySize else {
        throw SQOAuthError(
          .invalidConfiguration, "the key of a store must have \(EncryptionService.keySize) bytes")
      }
      return .key(key)
    case .file(let path, let passphrase):
      let file = KeyFile(path: path, passphrase: passphrase)
      return .key(try makingFile ? file.makeIfAbsent() : file.read())
    }
  }

  /// Throws if the key cannot be used; a missing key file that can be created is no error.
  package func check() throws(SQOAuthError) {
    if case .file(let path, let passphrase) = source {
      try KeyFile(path: path, passphrase: passphrase).check()
    } else {
      _ = try secret(makingFile: false)
    }
  }
}

extension KeyDerivation.Secret {
  /// Creates a secret from a passphrase; throws if the passphrase is empty.
  ///
  /// `cost` is the cost of deriving the key of a new store.
  static func checked(
    _ passphrase: String, cost: KeyDerivation.ScryptCost = .standard
  ) throws(SQOAuthError) -> Self {
    guard !passphrase.isEmpty else {
      throw SQOAuthError(.invalidConfiguration, "a passphrase must not be empty")
    }
    return .passphrase(passphrase, cost)
  }
}
