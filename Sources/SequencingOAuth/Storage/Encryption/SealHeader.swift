import CCrypto

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
  init(for secret: StoreSecret) throws(SQOAuthError) {
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
  init(_ bytes: Data, secret: StoreSecret) throws(SQOAuthError) {
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
