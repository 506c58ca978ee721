import SQBasics
import SQCrypto
import SQFoundation

/// The unencrypted header of sealed data, used to derive and to recognize the key.
///
/// The derivation produces twice as many bytes as the key has. The second half, the verifier, is
/// written into the header. It reveals nothing about the key, and a different passphrase results in
/// a different verifier, so a wrong passphrase is recognized before anything is decrypted. The
/// checksum distinguishes damage from a wrong passphrase. It does not protect against changes; the
/// verifier does, because it depends on every field of the derivation.
struct SealHeader: Sendable {
  static let currentVersion = 1

  /// The header as the store keeps it: a line of JSON.
  let bytes: Data
  /// The encryption with the derived key.
  let service: EncryptionService

  /// Creates a new header with a new salt.
  init(for secret: KeyDerivation.Secret) throws(SQOAuthError) {
    let (derivation, derived) = try CryptoFailure.reported { () throws(CryptoFailure) in
      let derivation = try KeyDerivation.new(for: secret)
      return (derivation, try derivation.derive(2 * EncryptionService.keySize, from: secret))
    }
    guard let derived else {
      throw SQOAuthError(.storeFailed, "the key derivation does not fit the kind of key")
    }
    service = try EncryptionService(key: derived.prefix(EncryptionService.keySize))
    let fields = SealHeaderFields(
      derivation, verifier: derived.suffix(EncryptionService.keySize), version: Self.currentVersion)
    bytes = try fields.encoded()
  }

  /// Returns whether a text begins with a header, even if the header is damaged.
  static func begins(_ bytes: Data) -> Bool {
    let line = String(
      decoding: bytes.prefix(2000).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    return line.hasPrefix("{") && line.contains("\"verifier\"")
  }

  /// Parses an existing header, and checks the passphrase or key against it.
  ///
  /// - Throws: ``SQOAuthError/Code/storeTooNew``, ``SQOAuthError/Code/storeDamaged`` or
  ///   ``SQOAuthError/Code/wrongPassphrase``.
  init(_ bytes: Data, secret: KeyDerivation.Secret) throws(SQOAuthError) {
    let fields = try SealHeaderFields(decoding: bytes, version: Self.currentVersion)
    let derivation = try fields.derivation()
    let derived = try CryptoFailure.reported { () throws(CryptoFailure) in
      try derivation.derive(2 * EncryptionService.keySize, from: secret)
    }
    guard let derived, try fields.isVerified(by: derived.suffix(EncryptionService.keySize))
    else {
      throw SQOAuthError(
        .wrongPassphrase,
        "it was made with another passphrase or key, perhaps by another store of the same service")
    }
    service = try EncryptionService(key: derived.prefix(EncryptionService.keySize))
    self.bytes = bytes
  }
}

/// The fields of a header, as in its JSON.
struct SealHeaderFields: Codable, Redacted {
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
      throw .tooNew("version \(found) of its format")
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

  /// Returns the key derivation; throws if it is weak, or needs too much time or memory.
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

  /// Returns whether the derived bytes are the verifier in the header.
  func isVerified(by derived: Data) throws(SQOAuthError) -> Bool {
    guard let expected = Hexadecimal.decode(verifier), expected.count == derived.count else {
      throw Self.damaged
    }
    return OpenSSL.areEqual(expected, derived)
  }

  private static let damaged = SQOAuthError(
    .storeDamaged,
    "its header is damaged; nothing was changed: restore a copy, or remove it and sign in again")

  /// The digest of all other fields, in hexadecimal digits.
  private var sum: String {
    let costs = [kdf.n, kdf.r, kdf.p].map { $0.map(String.init) ?? "-" }
    return Hexadecimal.encode(
      Digest.sha256(
        (["\(version)", kdf.name, kdf.salt] + costs + [verifier]).joined(separator: "\n")))
  }
}
