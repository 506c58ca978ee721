import CCrypto

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Random values, and SHA-256.
enum Crypto {
  /// 256 random bits in base64url, after a prefix that tells a reader what they are.
  static func secret(_ prefix: String) -> String {
    var generator = SystemRandomNumberGenerator()
    var bytes = Data(capacity: 32)
    for _ in 0..<4 {
      withUnsafeBytes(of: generator.next()) { bytes.append(contentsOf: $0) }
    }
    return prefix + base64URL(bytes)
  }

  /// The S256 challenge of a verifier (RFC 7636, section 4.2).
  static func challenge(of verifier: String) -> String {
    digest(of: Data(verifier.utf8))
  }

  /// SHA-256 in base64url.
  static func digest(of data: Data) -> String {
    // OpenSSL must not clean up at exit: the server's threads may use it until the app's last
    // moment.
    OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
    var digest = [UInt8](repeating: 0, count: 32)
    data.withUnsafeBytes { bytes in
      _ = EVP_Digest(bytes.baseAddress, bytes.count, &digest, nil, EVP_sha256(), nil)
    }
    return base64URL(Data(digest))
  }

  private static func base64URL(_ data: Data) -> String {
    data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
      .replacing("=", with: "")
  }
}
