import CSQCrypto
package import SQFoundation

/// Random bytes from OpenSSL's cryptographic generator.
package enum RandomBytes {
  /// Returns new random bytes.
  package static func make(_ count: Int) throws(CryptoFailure) -> Data {
    OpenSSL.begin()
    var bytes = Data(count: count)
    let succeeded = OpenSSL.leavingNoErrors {
      bytes.withUnsafeMutableBytes { buffer in
        RAND_bytes(buffer.bindMemory(to: UInt8.self).baseAddress, Int32(count))
      }
    }
    guard succeeded == 1 else {
      throw CryptoFailure("libcrypto cannot make random bytes")
    }
    return bytes
  }
}
