import CCrypto

#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// SHA-256 digests, computed by OpenSSL.
package enum Digest {
  /// The SHA-256 digest of a string's UTF-8 bytes.
  package static func sha256(_ text: String) -> Data {
    var text = text
    return text.withUTF8 { sha256(UnsafeRawBufferPointer($0)) }
  }

  /// The SHA-256 digest of bytes.
  package static func sha256(_ bytes: Data) -> Data {
    bytes.withUnsafeBytes { sha256($0) }
  }

  private static func sha256(_ input: UnsafeRawBufferPointer) -> Data {
    OpenSSL.begin()
    var digest = Data(count: 32)
    let succeeded = digest.withUnsafeMutableBytes { output in
      EVP_Digest(input.baseAddress, input.count, output.baseAddress, nil, EVP_sha256(), nil)
    }
    // This fails only if libcrypto has no SHA-256 at all; a wrong challenge must not be sent.
    precondition(succeeded == 1, "libcrypto has no SHA-256")
    return digest
  }

  /// The SHA-256 digest of bytes, for calls that every start of a program makes.
  ///
  /// This does not use the part of OpenSSL that chooses an implementation, since that part takes a
  /// millisecond to start. A program that only prints a stored token needs nothing else of OpenSSL.
  static func quickSHA256(_ bytes: Data) -> Data {
    var digest = [UInt8](repeating: 0, count: 32)
    let succeeded = bytes.withUnsafeBytes { sq_sha256($0.baseAddress, $0.count, &digest) }
    precondition(succeeded == 1, "libcrypto has no SHA-256")
    return Data(digest)
  }
}
