import CSQCrypto
import SQBasics
package import SQFoundation

/// The derivation of a store's key: by scrypt from a passphrase, or by HKDF from another key.
///
/// The salt is random, so two stores with equal passphrases have different keys.
///
/// - SeeAlso: RFC 7914; RFC 5869
package enum KeyDerivation: Sendable, Hashable {
  /// The passphrase or the key that the store's key is derived from.
  package enum Secret: Sendable, Redacted {
    case passphrase(String, ScryptCost)
    case key(Data)
  }

  /// The scrypt parameters of a new store: the cost of each guess of its passphrase.
  package struct ScryptCost: Sendable {
    let cost: Int
    let blockSize: Int
    let parallelism: Int

    /// The parameters of new stores: 32 MB of memory and 3 passes.
    ///
    /// - SeeAlso: OWASP Password Storage Cheat Sheet, scrypt
    package static let standard = ScryptCost(cost: 1 << 15, blockSize: 8, parallelism: 3)
    /// The smallest reasonable cost: 16 MB of memory and one pass.
    package static let smallest = ScryptCost(cost: 1 << 14, blockSize: 8, parallelism: 1)
  }

  /// Derivation from a passphrase by scrypt, with a cost that slows down guessing.
  case scrypt(cost: Int, blockSize: Int, parallelism: Int, salt: Data)
  /// Derivation from a random key by HKDF; it may be fast, because a random key cannot be guessed.
  case hkdf(salt: Data)

  static let smallestSalt = 16
  private static let saltSize = 32
  // The largest memory for scrypt, in bytes: four times the memory for the SDK's own parameters.
  private static let largestMemory = 128 << 20

  /// Creates the parameters for a new store, with a random salt.
  package static func new(for secret: Secret) throws(CryptoFailure) -> KeyDerivation {
    let salt = try RandomBytes.make(saltSize)
    return switch secret {
    case .passphrase(_, let scrypt):
      .scrypt(
        cost: scrypt.cost, blockSize: scrypt.blockSize, parallelism: scrypt.parallelism,
        salt: salt)
    case .key: .hkdf(salt: salt)
    }
  }

  package var salt: Data {
    switch self {
    case .scrypt(_, _, _, let salt), .hkdf(let salt): salt
    }
  }

  /// Whether the parameters are acceptable: neither weak nor too costly for the machine.
  package var isReasonable: Bool {
    guard salt.count >= Self.smallestSalt, salt.count <= 1024 else { return false }
    guard case .scrypt(let cost, let blockSize, let parallelism, _) = self else { return true }
    return (1 << 14...1 << 20).contains(cost) && cost & (cost - 1) == 0
      && (8...32).contains(blockSize) && (1...16).contains(parallelism)
      && 128 * cost * blockSize <= Self.largestMemory
  }

  /// Derives `count` bytes; returns `nil` if the secret's kind does not match the derivation.
  package func derive(_ count: Int, from secret: Secret) throws(CryptoFailure) -> Data? {
    OpenSSL.begin()
    return switch (self, secret) {
    case (.scrypt(let cost, let blockSize, let parallelism, let salt), .passphrase(let text, _)):
      try Self.scrypt(
        text, salt: salt, cost: cost, blockSize: blockSize, parallelism: parallelism, count: count)
    case (.hkdf(let salt), .key(let key)):
      try Self.hkdf(key, salt: salt, info: Data("SequencingOAuth store".utf8), count: count)
    default: nil
    }
  }
}

extension KeyDerivation {
  /// Derives bytes by scrypt, without checking the parameters.
  static func scrypt(
    _ passphrase: String, salt: Data, cost: Int, blockSize: Int, parallelism: Int, count: Int
  ) throws(CryptoFailure) -> Data {
    var output = Data(count: count)
    var passphrase = passphrase
    let succeeded = OpenSSL.leavingNoErrors {
      passphrase.withUTF8 { passphrase in
        salt.withUnsafeBytes { salt in
          output.withUnsafeMutableBytes { output in
            EVP_PBE_scrypt(
              passphrase.baseAddress, passphrase.count,
              salt.bindMemory(to: UInt8.self).baseAddress, salt.count, UInt64(cost),
              UInt64(blockSize), UInt64(parallelism),
              // OpenSSL's default limit of 32 MB includes its overhead, so it is too low for the
              // parameters of new stores.
              UInt64(Self.largestMemory * 2),
              output.bindMemory(to: UInt8.self).baseAddress, output.count)
          }
        }
      }
    }
    guard succeeded == 1 else {
      throw CryptoFailure(
        "libcrypto cannot derive a key with scrypt", needing: .derivation("SCRYPT"))
    }
    return output
  }

  /// Derives bytes by HKDF with SHA-256.
  package static func hkdf(
    _ key: Data, salt: Data, info: Data, count: Int
  ) throws(CryptoFailure) -> Data {
    var output = Data(count: count)
    let succeeded = OpenSSL.leavingNoErrors {
      key.withUnsafeBytes { key in
        salt.withUnsafeBytes { salt in
          info.withUnsafeBytes { info in
            output.withUnsafeMutableBytes { output in
              sq_hkdf_sha256(
                key.bindMemory(to: UInt8.self).baseAddress, key.count,
                salt.bindMemory(to: UInt8.self).baseAddress, salt.count,
                info.bindMemory(to: UInt8.self).baseAddress, info.count,
                output.bindMemory(to: UInt8.self).baseAddress, output.count)
            }
          }
        }
      }
    }
    guard succeeded == 1 else {
      throw CryptoFailure("libcrypto cannot derive a key with HKDF")
    }
    return output
  }
}
