import Basics
import CCrypto

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// How a key is made from what the user gave: scrypt from a passphrase, HKDF from a key.
///
/// The salt is random, so two stores with one passphrase have different keys.
///
/// - SeeAlso: RFC 7914; RFC 5869
enum KeyDerivation: Sendable, Hashable {
  /// What the user gave.
  enum Secret: Sendable, Redacted {
    case passphrase(String)
    case key(Data)

    /// A passphrase that is not empty.
    static func checked(_ passphrase: String) throws(SQOAuthError) -> Self {
      guard !passphrase.isEmpty else {
        throw SQOAuthError(.invalidConfiguration, "a passphrase must not be empty")
      }
      return .passphrase(passphrase)
    }
  }

  /// From a passphrase, at a cost that is meant to slow down guessing.
  case scrypt(cost: Int, blockSize: Int, parallelism: Int, salt: Data)
  /// From a key, which nobody can guess.
  case hkdf(salt: Data)

  static let smallestSalt = 16
  private static let saltSize = 32
  // What scrypt may take: four times the memory that our own parameters do.
  private static let largestMemory = 128 << 20

  /// The derivation for a new store: 32 MB and 3 passes for a passphrase.
  ///
  /// - SeeAlso: OWASP Password Storage Cheat Sheet, scrypt
  static func new(for secret: Secret) throws(SQOAuthError) -> KeyDerivation {
    let salt = try RandomBytes.make(saltSize)
    return switch secret {
    case .passphrase: .scrypt(cost: 1 << 15, blockSize: 8, parallelism: 3, salt: salt)
    case .key: .hkdf(salt: salt)
    }
  }

  var salt: Data {
    switch self {
    case .scrypt(_, _, _, let salt), .hkdf(let salt): salt
    }
  }

  /// Whether it can have come from us: neither weak nor so dear that it would stop the machine.
  var isReasonable: Bool {
    guard salt.count >= Self.smallestSalt, salt.count <= 1024 else { return false }
    guard case .scrypt(let cost, let blockSize, let parallelism, _) = self else { return true }
    return (1 << 14...1 << 20).contains(cost) && cost & (cost - 1) == 0
      && (8...32).contains(blockSize) && (1...16).contains(parallelism)
      && 128 * cost * blockSize <= Self.largestMemory
  }

  /// Derives bytes, or returns `nil` where the secret is not of the kind that this is for.
  func derive(_ count: Int, from secret: Secret) throws(SQOAuthError) -> Data? {
    OpenSSL.begin()
    return switch (self, secret) {
    case (.scrypt(let cost, let blockSize, let parallelism, let salt), .passphrase(let text)):
      try Self.scrypt(
        text, salt: salt, cost: cost, blockSize: blockSize, parallelism: parallelism, count: count)
    case (.hkdf(let salt), .key(let key)):
      try Self.hkdf(key, salt: salt, info: Data("SequencingOAuth store".utf8), count: count)
    default: nil
    }
  }
}

extension KeyDerivation {
  /// scrypt as it is, without a look at its parameters.
  static func scrypt(
    _ passphrase: String, salt: Data, cost: Int, blockSize: Int, parallelism: Int, count: Int
  ) throws(SQOAuthError) -> Data {
    var output = Data(count: count)
    var passphrase = passphrase
    let succeeded = passphrase.withUTF8 { passphrase in
      salt.withUnsafeBytes { salt in
        output.withUnsafeMutableBytes { output in
          EVP_PBE_scrypt(
            passphrase.baseAddress, passphrase.count,
            salt.bindMemory(to: UInt8.self).baseAddress, salt.count, UInt64(cost),
            UInt64(blockSize), UInt64(parallelism),
            // OpenSSL's own limit is 32 MB, its overhead included.
            UInt64(Self.largestMemory * 2),
            output.bindMemory(to: UInt8.self).baseAddress, output.count)
        }
      }
    }
    guard succeeded == 1 else {
      throw SQOAuthError(.storeFailed, "libcrypto cannot derive a key with scrypt")
    }
    return output
  }

  /// HKDF with SHA-256.
  static func hkdf(
    _ key: Data, salt: Data, info: Data, count: Int
  ) throws(SQOAuthError) -> Data {
    var output = Data(count: count)
    let succeeded = key.withUnsafeBytes { key in
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
    guard succeeded == 1 else {
      throw SQOAuthError(.storeFailed, "libcrypto cannot derive a key with HKDF")
    }
    return output
  }
}
