import CSQCrypto

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Random bytes from OpenSSL's cryptographic generator.
enum RandomBytes {
  /// Returns new random bytes.
  static func make(_ count: Int) throws(SQOAuthError) -> Data {
    OpenSSL.begin()
    var bytes = Data(count: count)
    let succeeded = bytes.withUnsafeMutableBytes { buffer in
      RAND_bytes(buffer.bindMemory(to: UInt8.self).baseAddress, Int32(count))
    }
    guard succeeded == 1 else {
      throw SQOAuthError(.storeFailed, "libcrypto cannot make random bytes")
    }
    return bytes
  }
}
