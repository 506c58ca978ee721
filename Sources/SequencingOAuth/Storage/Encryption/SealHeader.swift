import Basics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What stands in clear in front of sealed data: how its key is derived, and how to know the key.
///
/// A key is derived together with as many bytes again that are written down. They say nothing of
/// the key, and another passphrase gives others, so that a wrong one is known before there is
/// anything to decrypt. The checksum tells damage from a wrong passphrase; it is no protection,
/// which the derived bytes are, since they depend on every other field.
struct SealHeader: Sendable {
  static let currentVersion = 1

  /// The header as it is kept: a line of JSON.
  let bytes: Data
  /// What the header's key encrypts with.
  let service: EncryptionService

  /// A new header, with a new salt.
  init(for secret: KeyDerivation.Secret) throws(SQOAuthError) {
    let derivation = try KeyDerivation.new(for: secret)
    guard let derived = try derivation.derive(2 * EncryptionService.keySize, from: secret) else {
      throw SQOAuthError(.storeFailed, "the key's derivation does not fit it")
    }
    service = try EncryptionService(key: derived.prefix(EncryptionService.keySize))
    let fields = HeaderFields(
      derivation, verifier: derived.suffix(EncryptionService.keySize), version: Self.currentVersion)
    bytes = try fields.encoded()
  }

  /// Opens a header that was kept.
  ///
  /// - Throws: ``SQOAuthError/Code/storeTooNew``, ``SQOAuthError/Code/storeDamaged`` or
  ///   ``SQOAuthError/Code/wrongPassphrase``.
  init(_ bytes: Data, secret: KeyDerivation.Secret) throws(SQOAuthError) {
    let fields = try HeaderFields(decoding: bytes, version: Self.currentVersion)
    let derivation = try fields.derivation()
    guard let derived = try derivation.derive(2 * EncryptionService.keySize, from: secret),
      try fields.isVerified(by: derived.suffix(EncryptionService.keySize))
    else {
      throw SQOAuthError(
        .wrongPassphrase, "the passphrase or the key is not the one that it was made with")
    }
    service = try EncryptionService(key: derived.prefix(EncryptionService.keySize))
    self.bytes = bytes
  }
}

/// The fields of a header, as JSON has them.
struct HeaderFields: Codable, Redacted {
  private struct Derivation: Codable {
    let name: String
    let salt: String
    let n: Int?
    let r: Int?
    let p: Int?
  }

  private struct Version: Decodable {
    let version: Int
  }

  private let version: Int
  private let kdf: Derivation
  private let verifier: String
  private var checksum = ""

  init(_ derivation: KeyDerivation, verifier: Data, version: Int) {
    self.version = version
    self.verifier = Hexadecimal.encode(verifier)
    let salt = Hexadecimal.encode(derivation.salt)
    kdf =
      switch derivation {
      case .scrypt(let cost, let blockSize, let parallelism, _):
        Derivation(name: "scrypt", salt: salt, n: cost, r: blockSize, p: parallelism)
      case .hkdf:
        Derivation(name: "hkdf-sha256", salt: salt, n: nil, r: nil, p: nil)
      }
    checksum = sum
  }

  init(decoding bytes: Data, version: Int) throws(SQOAuthError) {
    let decoder = JSONDecoder()
    guard let found = try? decoder.decode(Version.self, from: bytes).version else {
      throw Self.damaged
    }
    guard found <= version else {
      throw SQOAuthError(
        .storeTooNew, "version \(found) of its format is newer than this program")
    }
    guard found == version, let fields = try? decoder.decode(Self.self, from: bytes),
      fields.checksum == fields.sum
    else { throw Self.damaged }
    self = fields
  }

  func encoded() throws(SQOAuthError) -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      return try encoder.encode(self)
    } catch {
      throw SQOAuthError(.storeFailed, "the header cannot be encoded", cause: error)
    }
  }

  /// How the key is derived; nothing that would take unreasonable time or memory is believed.
  func derivation() throws(SQOAuthError) -> KeyDerivation {
    let derivation: KeyDerivation? =
      switch (kdf.name, Hexadecimal.decode(kdf.salt), kdf.n, kdf.r, kdf.p) {
      case ("scrypt", let salt?, let cost?, let blockSize?, let parallelism?):
        .scrypt(cost: cost, blockSize: blockSize, parallelism: parallelism, salt: salt)
      case ("hkdf-sha256", let salt?, nil, nil, nil): .hkdf(salt: salt)
      default: nil
      }
    guard let derivation, derivation.isReasonable else { throw Self.damaged }
    return derivation
  }

  /// Whether the bytes that were derived are the ones that were written down.
  func isVerified(by derived: Data) throws(SQOAuthError) -> Bool {
    guard let expected = Hexadecimal.decode(verifier), expected.count == derived.count else {
      throw Self.damaged
    }
    return OpenSSL.areEqual(expected, derived)
  }

  private static let damaged = SQOAuthError(
    .storeDamaged, "its header is damaged, and it is left as it is")

  /// The digest of every other field, as its text.
  private var sum: String {
    let costs = [kdf.n, kdf.r, kdf.p].map { $0.map(String.init) ?? "-" }
    return Hexadecimal.encode(
      Digest.sha256(
        (["\(version)", kdf.name, kdf.salt] + costs + [verifier]).joined(separator: "\n")))
  }
}
