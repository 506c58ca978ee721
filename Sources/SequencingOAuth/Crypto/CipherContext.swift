import CCrypto

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// One run of AES-256-GCM over one text.
///
/// - SeeAlso: EVP_EncryptInit(3)
final class CipherContext {
  static let tagSize = 16
  static let failure = SQOAuthError(.storeFailed, "libcrypto cannot encrypt with AES-256-GCM")

  // Looked up once, since that costs more than to encrypt a record; never changed after.
  nonisolated(unsafe) private static let cipher = {
    OpenSSL.begin()
    return EVP_CIPHER_fetch(nil, "AES-256-GCM", nil)
  }()

  private let context: OpaquePointer

  init(key: Data, nonce: Data, isEncrypting: Bool) throws(SQOAuthError) {
    guard let cipher = Self.cipher, let context = EVP_CIPHER_CTX_new() else { throw Self.failure }
    self.context = context
    let succeeded = key.withUnsafeBytes { key in
      nonce.withUnsafeBytes { nonce in
        EVP_CipherInit_ex2(
          context, cipher, key.bindMemory(to: UInt8.self).baseAddress,
          nonce.bindMemory(to: UInt8.self).baseAddress, isEncrypting ? 1 : 0, nil)
      }
    }
    guard succeeded == 1 else { throw Self.failure }
  }

  deinit {
    EVP_CIPHER_CTX_free(context)
  }

  /// Takes in what is authenticated and not encrypted; before ``update(_:)``.
  func authenticate(_ bytes: Data) throws(SQOAuthError) {
    try Self.inPieces(bytes) { piece in
      var count: Int32 = 0
      return EVP_CipherUpdate(
        context, nil, &count, piece.bindMemory(to: UInt8.self).baseAddress, Int32(piece.count))
    }
  }

  /// Encrypts or decrypts; the result is as long as the input.
  func update(_ bytes: Data) throws(SQOAuthError) -> Data {
    var output = Data(count: bytes.count)
    var done = 0
    try Self.inPieces(bytes) { piece in
      output.withUnsafeMutableBytes { output in
        var count: Int32 = 0
        let start = output.bindMemory(to: UInt8.self).baseAddress?.advanced(by: done)
        done += piece.count
        return EVP_CipherUpdate(
          context, start, &count, piece.bindMemory(to: UInt8.self).baseAddress,
          Int32(piece.count))
      }
    }
    return output
  }

  /// Whether the text is complete and, where it was decrypted, its tag is the expected one.
  func finish() -> Bool {
    // GCM has no last block, but the call wants room for one.
    var block: [UInt8] = Array(repeating: 0, count: 16)
    var count: Int32 = 0
    return EVP_CipherFinal_ex(context, &block, &count) == 1
  }

  /// The tag of what was encrypted; after ``finish()``.
  func tag() throws(SQOAuthError) -> Data {
    var tag = Data(count: Self.tagSize)
    let succeeded = tag.withUnsafeMutableBytes { tag in
      EVP_CIPHER_CTX_ctrl(
        context, EVP_CTRL_AEAD_GET_TAG, Int32(tag.count), tag.baseAddress)
    }
    guard succeeded == 1 else { throw Self.failure }
    return tag
  }

  /// Says which tag ``finish()`` is to find.
  func expect(tag: Data) throws(SQOAuthError) {
    var tag = tag
    let succeeded = tag.withUnsafeMutableBytes { tag in
      EVP_CIPHER_CTX_ctrl(
        context, EVP_CTRL_AEAD_SET_TAG, Int32(tag.count), tag.baseAddress)
    }
    guard succeeded == 1 else { throw Self.failure }
  }

  /// OpenSSL counts in 32 bits.
  private static func inPieces(
    _ bytes: Data, _ body: (UnsafeRawBufferPointer) -> Int32
  ) throws(SQOAuthError) {
    let succeeded = bytes.withUnsafeBytes { bytes in
      var rest = bytes[...]
      while !rest.isEmpty {
        let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(1 << 30))
        guard body(piece) == 1 else { return false }
        rest = rest.dropFirst(piece.count)
      }
      return true
    }
    guard succeeded else { throw failure }
  }
}
