import CSQCrypto
package import SQFoundation

/// SHA-2 digests, computed by OpenSSL.
package enum Digest {
  /// Returns the SHA-256 digest of a string's UTF-8 bytes.
  package static func sha256(_ text: String) -> Data {
    var text = text
    return text.withUTF8 { digest(UnsafeRawBufferPointer($0), by: .sha256) }
  }

  /// Returns the SHA-256 digest of bytes.
  package static func sha256(_ bytes: Data) -> Data { digest(bytes, by: .sha256) }

  /// Returns the digest of bytes with a hash function.
  package static func digest(_ bytes: Data, by function: HashFunction) -> Data {
    bytes.withUnsafeBytes { digest($0, by: function) }
  }

  private static func digest(_ input: UnsafeRawBufferPointer, by function: HashFunction) -> Data {
    // OpenSSL's own implementation is used if the configured provider fails only now, such as a
    // FIPS module whose self-test fails.
    let digest =
      Self.digest(input, function.digestSize, function.implementation)
      ?? Self.digest(input, function.digestSize, function.ownImplementation)
    // OpenSSL's own implementation fails only if memory runs out. Stop then, because a wrong code
    // challenge must not be sent.
    guard let digest else { preconditionFailure("there is no memory for a digest") }
    return digest
  }

  private static func digest(
    _ input: UnsafeRawBufferPointer, _ size: Int, _ implementation: OpaquePointer?
  ) -> Data? {
    guard let implementation else { return nil }
    var digest = Data(count: size)
    let succeeded = OpenSSL.leavingNoErrors {
      digest.withUnsafeMutableBytes { output in
        EVP_Digest(input.baseAddress, input.count, output.baseAddress, nil, implementation, nil)
      }
    }
    return succeeded == 1 ? digest : nil
  }

  /// Returns the SHA-256 digest of bytes quickly, for calls at the start of a program.
  ///
  /// With OpenSSL 3, this does not use the part of OpenSSL that selects an implementation, because
  /// that part takes a millisecond to start. A program that only prints a stored token needs
  /// nothing else from OpenSSL.
  package static func quickSHA256(_ bytes: Data) -> Data {
    var digest = [UInt8](repeating: 0, count: 32)
    let succeeded = bytes.withUnsafeBytes { sq_sha256($0.baseAddress, $0.count, &digest) }
    return succeeded == 1 ? Data(digest) : sha256(bytes)
  }
}
