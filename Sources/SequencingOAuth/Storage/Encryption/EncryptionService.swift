public import Basics

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Authenticated encryption under one key: AES-256-GCM of OpenSSL.
///
/// A sealed box is a nonce of 12 bytes, the ciphertext, and a tag of 16 bytes. The nonce is random
/// and new for each box, so one key is good for 2³² of them.
///
/// - SeeAlso: NIST SP 800-38D
public struct EncryptionService: Sendable {
  static let keySize = 32
  private static let nonceSize = 12

  private let key: Data

  /// A service with a key of exactly 32 bytes, which must be as random as 32 bytes can be.
  ///
  /// - Throws: ``SQOAuthError/Code/invalidConfiguration`` for another size.
  public init(key: Data) throws(SQOAuthError) {
    guard key.count == Self.keySize else {
      throw SQOAuthError(.invalidConfiguration, "a key has \(Self.keySize) bytes")
    }
    self.key = key
  }

  /// Encrypts a text so that nobody without the key can read or change it.
  ///
  /// What is authenticated beside it, such as whom it belongs to, is not in the box, and
  /// ``open(_:authenticating:)`` must be given the same.
  public func seal(
    _ plaintext: Data, authenticating context: Data = Data()
  ) throws(SQOAuthError) -> Data {
    let nonce = try RandomBytes.make(Self.nonceSize)
    let cipher = try CipherContext(key: key, nonce: nonce, isEncrypting: true)
    var box = nonce
    try cipher.authenticate(context)
    box += try cipher.update(plaintext)
    guard cipher.finish() else { throw CipherContext.failure }
    box += try cipher.tag()
    return box
  }

  /// Decrypts a box that ``seal(_:authenticating:)`` made with the same key and the same context.
  ///
  /// - Throws: ``SQOAuthError/Code/storeDamaged`` where the box, the key or the context differs.
  public func open(
    _ box: Data, authenticating context: Data = Data()
  ) throws(SQOAuthError) -> Data {
    let damaged = SQOAuthError(.storeDamaged, "a sealed box is not what was sealed with this key")
    guard box.count >= Self.nonceSize + CipherContext.tagSize else { throw damaged }
    let cipher = try CipherContext(
      key: key, nonce: box.prefix(Self.nonceSize), isEncrypting: false)
    try cipher.authenticate(context)
    let plaintext = try cipher.update(box.dropFirst(Self.nonceSize).dropLast(CipherContext.tagSize))
    try cipher.expect(tag: box.suffix(CipherContext.tagSize))
    // Nothing of the plaintext is used before the tag is known to be right.
    guard cipher.finish() else { throw damaged }
    return plaintext
  }
}

extension EncryptionService {
  /// Sixteen bytes that depend on a text and the key, and that show neither.
  ///
  /// - SeeAlso: RFC 5869
  func fingerprint(of text: Data) throws(SQOAuthError) -> Data {
    try KeyDerivation.hkdf(key, salt: Data(), info: text, count: 16)
  }
}

extension EncryptionService: Redacted {
  /// The algorithm, without the key.
  public var description: String { "EncryptionService(AES-256-GCM)" }
}
