public import SQBasics
import SQCrypto
public import SQFoundation

/// Authenticated encryption with a single key, by OpenSSL's AES-256-GCM.
///
/// A sealed box consists of a nonce of 12 bytes, the ciphertext, and a tag of 16 bytes. The nonce
/// is random and new for each box, so one key is safe for 2³² boxes.
///
/// - SeeAlso: NIST SP 800-38D
public struct EncryptionService: Sendable {
  static let keySize = 32
  private static let nonceSize = 12

  private let key: Data

  /// Creates a service with a key of exactly 32 random bytes.
  ///
  /// The bytes must come from a cryptographic random generator; a password is not a key.
  ///
  /// - Throws: ``SQOAuthError/Code/invalidConfiguration`` if the key has a different size.
  public init(key: Data) throws(SQOAuthError) {
    guard key.count == Self.keySize else {
      throw SQOAuthError(.invalidConfiguration, "an encryption key must have \(Self.keySize) bytes")
    }
    self.key = key
  }

  /// Creates a service with a store's key: 32 bytes, or a key file.
  ///
  /// A missing key file is created. If another service has the same key as 32 bytes, both services
  /// open the same boxes. The call blocks the thread while it reads the file, so make it when the
  /// program starts.
  ///
  /// - Throws: ``SQOAuthError/Code/invalidConfiguration`` for a passphrase, because it becomes a
  ///   key only together with a store's salt; the errors of a key file, such as
  ///   ``SQOAuthError/Code/wrongPassphrase`` and ``SQOAuthError/Code/storeFailed``.
  public init(key: StoreKey) throws(SQOAuthError) {
    guard case .key(let bytes) = try key.secret(makingFile: true) else {
      throw SQOAuthError(
        .invalidConfiguration,
        "an encryption service needs 32 random bytes or a key file, with or without a "
          + "passphrase; a passphrase alone is not a key")
    }
    try self.init(key: bytes)
  }

  /// Encrypts a text; a program without the key can neither read it nor change it unnoticed.
  ///
  /// The context, such as the name of the text's owner, is authenticated but not included in the
  /// box: ``open(_:authenticating:)`` needs the same context.
  public func seal(
    _ plaintext: Data, authenticating context: Data = Data()
  ) throws(SQOAuthError) -> Data {
    try seal(plaintext, authenticating: [context])
  }

  /// Encrypts a text with a context in several parts, authenticated as one text.
  ///
  /// The parts are not joined in memory, because that would copy a part that may be a whole file.
  func seal(_ plaintext: Data, authenticating context: [Data]) throws(SQOAuthError) -> Data {
    try CryptoFailure.reported { () throws(CryptoFailure) in
      let nonce = try RandomBytes.make(Self.nonceSize)
      let cipher = try CipherContext(key: key, nonce: nonce, isEncrypting: true)
      var box = nonce
      for part in context { try cipher.authenticate(part) }
      box += try cipher.update(plaintext)
      guard cipher.finish() else { throw CipherContext.failure }
      box += try cipher.tag()
      return box
    }
  }

  /// Decrypts a box from ``seal(_:authenticating:)`` with the same context.
  ///
  /// - Throws: ``SQOAuthError/Code/storeDamaged`` if the box was changed, or was sealed with a
  ///   different key or context.
  public func open(
    _ box: Data, authenticating context: Data = Data()
  ) throws(SQOAuthError) -> Data {
    try open(box, authenticating: [context])
  }

  /// Decrypts a sealed box with a context in several parts, authenticated as one text.
  func open(_ box: Data, authenticating context: [Data]) throws(SQOAuthError) -> Data {
    let damaged = SQOAuthError(
      .storeDamaged, "a sealed box is damaged, or was sealed with another key or context")
    guard box.count >= Self.nonceSize + CipherContext.tagSize else { throw damaged }
    let plaintext = try CryptoFailure.reported { () throws(CryptoFailure) -> Data? in
      let cipher = try CipherContext(
        key: key, nonce: box.prefix(Self.nonceSize), isEncrypting: false)
      for part in context { try cipher.authenticate(part) }
      let text = try cipher.update(box.dropFirst(Self.nonceSize).dropLast(CipherContext.tagSize))
      try cipher.expect(tag: box.suffix(CipherContext.tagSize))
      // The plaintext must not be used before its tag is checked.
      return cipher.finish() ? text : nil
    }
    guard let plaintext else { throw damaged }
    return plaintext
  }
}

extension EncryptionService {
  /// Derives 16 bytes from a text and the key; they reveal neither the text nor the key.
  ///
  /// - SeeAlso: RFC 5869
  func fingerprint(of text: Data) throws(SQOAuthError) -> Data {
    // libcrypto accepts at most 32 KiB, and an account's name may be longer.
    let info = text.count <= 1024 ? text : Digest.sha256(text)
    return try CryptoFailure.reported { () throws(CryptoFailure) in
      try KeyDerivation.hkdf(key, salt: Data(), info: info, count: 16)
    }
  }
}

extension EncryptionService: Redacted {
  /// The algorithm, without the key.
  public var description: String { "EncryptionService(AES-256-GCM)" }
}
