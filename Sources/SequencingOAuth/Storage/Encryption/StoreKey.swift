public import SQBasics
package import SQCrypto

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The source of an encrypted store's key: a passphrase, the key itself or a key file.
///
/// The store reads the key when the store is first used, and throws then if the key cannot be used.
public struct StoreKey: Sendable {
  enum Source: Sendable, Redacted {
    case passphrase(String, KeyDerivation.ScryptCost)
    case raw(Data)
    case file(path: String, passphrase: String?)
  }

  let source: Source

  /// A passphrase that the user knows; it must not be empty.
  ///
  /// The store derives its key from the passphrase by scrypt once, which takes a large part of a
  /// second. The bytes of the passphrase count: equal letters in another Unicode normal form are
  /// another passphrase.
  public static func passphrase(_ passphrase: String) -> Self {
    Self(source: .passphrase(passphrase, .standard))
  }

  /// A passphrase for tests: deriving a new store's key costs as little as a store accepts.
  package static func quickPassphrase(_ passphrase: String) -> Self {
    Self(source: .passphrase(passphrase, .smallest))
  }

  /// A key of exactly 32 random bytes that the app itself keeps in another place.
  public static func raw(_ key: Data) -> Self {
    Self(source: .raw(key))
  }

  /// A key in a file; if the file is missing, a new store creates it with a random key.
  ///
  /// The file has mode 0600. A person who has both the store and the key file can read the tokens,
  /// unless the key file is sealed under a passphrase. So keep the two files apart, and do not put
  /// them into one backup.
  public static func file(_ path: String, passphrase: String? = nil) -> Self {
    Self(source: .file(path: path, passphrase: passphrase))
  }
}

extension StoreKey: Redacted {
  /// The kind of key, with the path of a key file, and without the key or the passphrase.
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
  /// `makingFile` says whether to create a missing key file; otherwise a missing file is an error.
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

  /// Throws if the key cannot be used; a key file that can be made is no error.
  package func check() throws(SQOAuthError) {
    if case .file(let path, let passphrase) = source {
      try KeyFile(path: path, passphrase: passphrase).check()
    } else {
      _ = try secret(makingFile: false)
    }
  }
}
