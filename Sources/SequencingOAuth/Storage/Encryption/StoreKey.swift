public import Basics

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// What the key of an encrypted store is made from.
///
/// It is looked at when the store is first used: what is wrong with it is told then.
public struct StoreKey: Sendable {
  enum Source: Sendable, Redacted {
    case passphrase(String)
    case raw(Data)
    case file(path: String, passphrase: String?)
  }

  let source: Source

  /// A passphrase that the user knows; it must not be empty.
  ///
  /// The key is derived by scrypt, which takes a good part of a second, once. Its bytes count:
  /// the same letters in another Unicode normal form are another passphrase.
  public static func passphrase(_ passphrase: String) -> Self {
    Self(source: .passphrase(passphrase))
  }

  /// A key of exactly 32 random bytes that the app keeps elsewhere.
  public static func raw(_ key: Data) -> Self {
    Self(source: .raw(key))
  }

  /// A key in a file, which is made with a random key when a new store needs it.
  ///
  /// The file has mode 0600. Whoever has both files has the tokens, unless the key file is sealed
  /// under a passphrase; keep them apart, and out of one backup.
  public static func file(_ path: String, passphrase: String? = nil) -> Self {
    Self(source: .file(path: path, passphrase: passphrase))
  }
}

extension StoreKey: Redacted {
  /// Where the key comes from, without any of it.
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
  /// The content of the key, read and checked; a key file that is not there is made if it may be.
  func secret(makingFile: Bool) throws(SQOAuthError) -> KeyDerivation.Secret {
    switch source {
    case .passphrase(let passphrase):
      return try .checked(passphrase)
    case .raw(let key):
      guard key.count == EncryptionService.keySize else {
        throw SQOAuthError(
          .invalidConfiguration, "a store's key has \(EncryptionService.keySize) bytes")
      }
      return .key(key)
    case .file(let path, let passphrase):
      let file = KeyFile(path: path, passphrase: passphrase)
      return .key(try makingFile ? file.makeIfAbsent() : file.read())
    }
  }

  /// Refuses a key that cannot be used; a key file that is not there is no failure.
  func check() throws(SQOAuthError) {
    if case .file(let path, let passphrase) = source {
      try KeyFile(path: path, passphrase: passphrase).check()
    } else {
      _ = try secret(makingFile: false)
    }
  }
}
