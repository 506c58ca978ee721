import CSQCrypto
import SQBasics
package import SQFoundation

/// The encryption or decryption of one text with AES-256-GCM.
///
/// - SeeAlso: EVP_EncryptInit(3)
package final class CipherContext {
  package static let tagSize = 16
  package static var failure: CryptoFailure {
    CryptoFailure("libcrypto cannot encrypt or decrypt with AES-256-GCM")
  }

  /// An implementation of the cipher, which is never changed or freed.
  private struct Cipher: @unchecked Sendable {
    let pointer: OpaquePointer

    init() throws(CryptoFailure) {
      OpenSSL.begin()
      guard let pointer = EVP_CIPHER_fetch(nil, "AES-256-GCM", nil) else { throw failure }
      self.pointer = pointer
    }
  }

  // The cipher is fetched only once, because a fetch takes longer than encrypting a record. A fetch
  // that failed, for example because a provider's file could not be opened, is repeated.
  private static let cipher = SharedInstance<Cipher, CryptoFailure>()

  private let context: OpaquePointer

  package init(key: Data, nonce: Data, isEncrypting: Bool) throws(CryptoFailure) {
    let context = OpenSSL.leavingNoErrors { () -> OpaquePointer? in
      guard let cipher = try? Self.cipher.get(Cipher.init), let context = EVP_CIPHER_CTX_new()
      else { return nil }
      let succeeded = key.withUnsafeBytes { key in
        nonce.withUnsafeBytes { nonce in
          EVP_CipherInit_ex2(
            context, cipher.pointer, key.bindMemory(to: UInt8.self).baseAddress,
            nonce.bindMemory(to: UInt8.self).baseAddress, isEncrypting ? 1 : 0, nil)
        }
      }
      if succeeded == 1 { return context }
      EVP_CIPHER_CTX_free(context)
      return nil
    }
    guard let context else { throw Self.failure }
    self.context = context
  }

  deinit {
    EVP_CIPHER_CTX_free(context)
  }

  /// Adds bytes that are authenticated but not encrypted.
  ///
  /// Call it before ``update(_:)``.
  package func authenticate(_ bytes: Data) throws(CryptoFailure) {
    try Self.inPieces(bytes) { piece in
      var count: Int32 = 0
      return EVP_CipherUpdate(
        context, nil, &count, piece.bindMemory(to: UInt8.self).baseAddress, Int32(piece.count))
    }
  }

  /// Encrypts or decrypts the next bytes; the result is as long as the input.
  package func update(_ bytes: Data) throws(CryptoFailure) -> Data {
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

  /// Ends the encryption or decryption; returns `false` if OpenSSL fails, or if a decrypted text
  /// does not match its tag.
  package func finish() -> Bool {
    // GCM has no last block, but `EVP_CipherFinal_ex` needs space for a block.
    var block: [UInt8] = Array(repeating: 0, count: 16)
    var count: Int32 = 0
    return OpenSSL.leavingNoErrors { EVP_CipherFinal_ex(context, &block, &count) } == 1
  }

  /// Returns the tag of the encrypted text.
  ///
  /// Call it after ``finish()``.
  package func tag() throws(CryptoFailure) -> Data {
    var tag = Data(count: Self.tagSize)
    let succeeded = OpenSSL.leavingNoErrors {
      tag.withUnsafeMutableBytes { tag in
        EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(tag.count), tag.baseAddress)
      }
    }
    guard succeeded == 1 else { throw Self.failure }
    return tag
  }

  /// Sets the tag that ``finish()`` compares with the tag of the decrypted text.
  package func expect(tag: Data) throws(CryptoFailure) {
    var tag = tag
    let succeeded = OpenSSL.leavingNoErrors {
      tag.withUnsafeMutableBytes { tag in
        EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tag.count), tag.baseAddress)
      }
    }
    guard succeeded == 1 else { throw Self.failure }
  }

  /// Passes bytes to OpenSSL in pieces of at most 1 GiB, because OpenSSL counts them in 32 bits.
  private static func inPieces(
    _ bytes: Data, _ body: (UnsafeRawBufferPointer) -> Int32
  ) throws(CryptoFailure) {
    let succeeded = OpenSSL.leavingNoErrors {
      bytes.withUnsafeBytes { bytes in
        var rest = bytes[...]
        while !rest.isEmpty {
          let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(1 << 30))
          guard body(piece) == 1 else { return false }
          rest = rest.dropFirst(piece.count)
        }
        return true
      }
    }
    guard succeeded else { throw failure }
  }
}
