import Basics
import CCrypto

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

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
    return expected.withUnsafeBytes { expected in
      derived.withUnsafeBytes { derived in
        CRYPTO_memcmp(expected.baseAddress, derived.baseAddress, expected.count) == 0
      }
    }
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
