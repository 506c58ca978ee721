import CCrypto

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Bytes from OpenSSL's generator.
enum RandomBytes {
  /// Fresh random bytes.
  static func make(_ count: Int) throws(SQOAuthError) -> Data {
    OpenSSL.begin()
    var bytes = Data(count: count)
    let succeeded = bytes.withUnsafeMutableBytes { buffer in
      RAND_bytes(buffer.bindMemory(to: UInt8.self).baseAddress, Int32(count))
    }
    guard succeeded == 1 else {
      throw SQOAuthError(.storeFailed, "libcrypto has no random bytes to give")
    }
    return bytes
  }
}
