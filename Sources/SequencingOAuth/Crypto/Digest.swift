import CCrypto

#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// OpenSSL's SHA-256.
package enum Digest {
  /// The SHA-256 of a string's UTF-8 bytes.
  package static func sha256(_ text: String) -> Data {
    var text = text
    return text.withUTF8 { sha256(UnsafeRawBufferPointer($0)) }
  }

  /// The SHA-256 of some bytes.
  package static func sha256(_ bytes: Data) -> Data {
    bytes.withUnsafeBytes { sha256($0) }
  }

  private static func sha256(_ input: UnsafeRawBufferPointer) -> Data {
    OpenSSL.begin()
    var digest = Data(count: 32)
    let succeeded = digest.withUnsafeMutableBytes { output in
      EVP_Digest(input.baseAddress, input.count, output.baseAddress, nil, EVP_sha256(), nil)
    }
    // It fails only where libcrypto offers no SHA-256 at all; a wrong challenge must not go out.
    precondition(succeeded == 1, "libcrypto has no SHA-256")
    return digest
  }

  /// The SHA-256 of some bytes, for what every start of a program does.
  ///
  /// It does without the part of OpenSSL that chooses among implementations, which takes a millisecond
  /// to begin: a program that only prints a stored token needs nothing else of OpenSSL.
  static func quickSHA256(_ bytes: Data) -> Data {
    var digest = [UInt8](repeating: 0, count: 32)
    let succeeded = bytes.withUnsafeBytes { sq_sha256($0.baseAddress, $0.count, &digest) }
    precondition(succeeded == 1, "libcrypto has no SHA-256")
    return Data(digest)
  }
}
