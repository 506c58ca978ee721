import CSQCrypto
import SQFoundation

/// Random values, hashes, and base64url.
enum Crypto {
  /// Returns `prefix` followed by 256 random bits in base64url.
  ///
  /// The prefix tells a reader the kind of the secret.
  static func secret(_ prefix: String) -> String {
    var generator = SystemRandomNumberGenerator()
    var bytes = Data(capacity: 32)
    for _ in 0..<4 {
      withUnsafeBytes(of: generator.next()) { bytes.append(contentsOf: $0) }
    }
    return prefix + base64URL(bytes)
  }

  /// Returns the SHA-256 hash of a text in base64url, such as the S256 challenge of a verifier
  /// (RFC 7636, section 4.2) or the `ath` of a token (RFC 9449, section 4.2).
  static func digest(of text: String) -> String {
    digest(of: Data(text.utf8))
  }

  /// Returns whether a text has the form of a SHA-256 hash in base64url.
  static func isDigest(_ text: String) -> Bool {
    text.utf8.count == 43 && text.utf8.allSatisfy(\.isBase64URL)
  }

  /// Returns the SHA-256 hash of `data` in base64url.
  static func digest(of data: Data) -> String {
    base64URL(hash(data, EVP_sha256()))
  }

  /// Returns the left half of a token's hash in base64url, for `at_hash` and `c_hash` (OpenID
  /// Connect Core, sections 3.1.3.6 and 3.3.2.11).
  static func halfHash(of token: String, for algorithm: SandboxSigningAlgorithm) -> String {
    let digest = hash(Data(token.utf8), algorithm.hash)
    return base64URL(digest.prefix(digest.count / 2))
  }

  private static func hash(_ data: Data, _ function: OpaquePointer?) -> Data {
    prepare()
    var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var count: UInt32 = 0
    data.withUnsafeBytes { bytes in
      _ = EVP_Digest(bytes.baseAddress, bytes.count, &digest, &count, function, nil)
    }
    return Data(digest.prefix(Int(count)))
  }

  /// Prevents OpenSSL's cleanup at exit, because the server's threads may still use OpenSSL at that
  /// time.
  static func prepare() {
    OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
  }

  /// Returns why OpenSSL cannot do the sandbox's work in this process; `nil` if it can.
  ///
  /// OpenSSL's configuration can disable algorithms.
  static func lack() -> String? {
    prepare()
    ERR_set_mark()
    defer { ERR_pop_to_mark() }
    let digest = EVP_MD_fetch(nil, "SHA2-256", nil)
    defer { EVP_MD_free(digest) }
    let kinds = ["EC", "RSA"].filter { kind in
      let keys = EVP_KEYMGMT_fetch(nil, kind, nil)
      defer { EVP_KEYMGMT_free(keys) }
      return keys == nil
    }
    let missing = (digest == nil ? ["SHA2-256"] : []) + kinds.map { "\($0) keys" }
    return missing.first.map {
      "the OpenSSL of this process offers no \($0), which the sandbox needs: mend its configuration, "
        + "the file that the variable OPENSSL_CONF names or the system's openssl.cnf"
    }
  }

  /// Decodes base64url, and returns `nil` if the text is malformed.
  static func bytes(base64URL text: String) -> Data? {
    let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    return Data(
      base64Encoded: text.replacing("-", with: "+").replacing("_", with: "/") + padding)
  }

  /// Encodes bytes as base64url without padding (RFC 7515, section 2).
  static func base64URL(_ data: Data) -> String {
    data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
      .replacing("=", with: "")
  }
}
