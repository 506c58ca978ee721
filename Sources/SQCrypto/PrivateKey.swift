import CSQCrypto
import SQBasics
package import SQFoundation

/// A private key with its public half, as an OpenSSL object.
///
/// Many threads may use a key, because it never changes. OpenSSL erases it when it is released.
package final class PrivateKey: @unchecked Sendable {
  package let kind: PublicKey.Kind
  let key: OpaquePointer

  /// Takes over a key that OpenSSL has read or generated; fails if its kind is not supported.
  private init?(_ make: () -> OpaquePointer?) {
    OpenSSL.begin()
    let made = OpenSSL.leavingNoErrors { () -> (OpaquePointer, PublicKey.Kind)? in
      guard let key = make() else { return nil }
      guard let kind = PublicKey.Kind(of: key) else {
        EVP_PKEY_free(key)
        return nil
      }
      return (key, kind)
    }
    guard let made else { return nil }
    (key, kind) = made
  }

  deinit {
    EVP_PKEY_free(key)
  }

  // MARK: Making and reading

  /// Generates a new key; an RSA key has 3072 bits.
  ///
  /// - SeeAlso: NIST SP 800-57 part 1, section 5.6.1, for the size
  package convenience init?(generating kind: PublicKey.Kind) {
    self.init {
      let name =
        switch kind {
        case .rsa: "RSA"
        case .ellipticCurve: "EC"
        case .ed25519: "ED25519"
        }
      let context = EVP_PKEY_CTX_new_from_name(nil, name, nil)
      defer { EVP_PKEY_CTX_free(context) }
      guard EVP_PKEY_keygen_init(context) == 1 else { return nil }
      switch kind {
      case .rsa: guard EVP_PKEY_CTX_set_rsa_keygen_bits(context, 3072) == 1 else { return nil }
      case .ellipticCurve(let curve):
        guard EVP_PKEY_CTX_set_group_name(context, curve.rawValue) == 1 else { return nil }
      case .ed25519: break
      }
      var key: OpaquePointer?
      EVP_PKEY_generate(context, &key)
      return key
    }
  }

  /// Reads a PEM text; returns `nil` if it has no supported private key, or if the passphrase does
  /// not match.
  ///
  /// - SeeAlso: RFC 7468, sections 10 and 11; PEM_read_bio_PrivateKey(3)
  package convenience init?(pem: Data, passphrase: String?) {
    self.init { Self.read(pem, passphrase) }
    guard isWhole else { return nil }
  }

  private static func read(_ pem: Data, _ passphrase: String?) -> OpaquePointer? {
    pem.withUnsafeBytes { text in
      guard let passphrase else { return sq_read_pem(text.baseAddress, Int32(text.count), nil) }
      return sq_read_pem(text.baseAddress, Int32(text.count), passphrase)
    }
  }

  /// Returns OpenSSL's name for the type of a private key that the SDK does not support; `nil` for
  /// any other text.
  package static func unsupportedType(pem: Data, passphrase: String?) -> String? {
    OpenSSL.leavingNoErrors {
      let key = read(pem, passphrase)
      defer { EVP_PKEY_free(key) }
      guard let key, PublicKey.Kind(of: key) == nil else { return nil }
      return EVP_PKEY_get0_type_name(key).map { String(cString: $0) }
    }
  }

  /// Creates an RSA key from the big-endian numbers n, e and d, with or without p, q, dp, dq and
  /// qi.
  ///
  /// - SeeAlso: RFC 7518, section 6.3
  package convenience init?(rsaNumbers numbers: [Data]) {
    guard [3, 8].contains(numbers.count),
      numbers.allSatisfy({ !$0.isEmpty && $0.count <= Int(OPENSSL_RSA_MAX_MODULUS_BITS) / 8 })
    else { return nil }
    self.init {
      // All numbers are in one array, so that their addresses are valid at the same time.
      let bytes = [UInt8](numbers.joined())
      return bytes.withUnsafeBufferPointer { bytes in
        var start = 0
        let parts = numbers.map { number in
          defer { start += number.count }
          return sq_number(bytes: bytes.baseAddress?.advanced(by: start), size: number.count)
        }
        return sq_rsa_key_pair(parts, parts.count)
      }
    }
    guard isWhole else { return nil }
  }

  /// Creates an ECDSA key from the private number and its public point.
  ///
  /// - SeeAlso: RFC 7518, section 6.2.2
  package convenience init?(curve: EllipticCurve, x: Data, y: Data, number: Data) {
    let size = curve.coordinateSize
    guard [x, y, number].allSatisfy({ $0.count == size }) else { return nil }
    let point = [0x04] + x + y
    self.init {
      number.withUnsafeBytes { number in
        sq_ec_key_pair(
          curve.rawValue, point, point.count,
          sq_number(bytes: number.bindMemory(to: UInt8.self).baseAddress, size: size))
      }
    }
    guard isWhole else { return nil }
  }

  /// Creates an Ed25519 key from its 32 bytes.
  ///
  /// - SeeAlso: RFC 8032, section 5.1.5
  package convenience init?(ed25519 bytes: Data) {
    guard bytes.count == 32 else { return nil }
    self.init {
      bytes.withUnsafeBytes { bytes in
        EVP_PKEY_new_raw_private_key_ex(
          nil, "ED25519", nil, bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count)
      }
    }
  }

  /// Whether the private half matches the public half.
  ///
  /// - SeeAlso: EVP_PKEY_pairwise_check(3)
  private var isWhole: Bool {
    OpenSSL.leavingNoErrors {
      let context = EVP_PKEY_CTX_new_from_pkey(nil, key, nil)
      defer { EVP_PKEY_CTX_free(context) }
      guard context != nil else { return false }
      return hasNoPrimes ? signsForPublicHalf : EVP_PKEY_pairwise_check(context) == 1
    }
  }

  /// Whether this is an RSA key without its primes; OpenSSL can use it only to sign.
  package var hasNoPrimes: Bool {
    var prime: OpaquePointer?
    defer { BN_clear_free(prime) }
    return kind == .rsa && EVP_PKEY_get_bn_param(key, "rsa-factor1", &prime) != 1
  }

  private var signsForPublicHalf: Bool {
    let message = Data("a message".utf8)
    let hash = HashFunction.sha256.implementation
    guard let signature = openSSLSignature(of: message, hash: hash) else { return false }
    let context = EVP_MD_CTX_new()
    defer { EVP_MD_CTX_free(context) }
    guard EVP_DigestVerifyInit(context, nil, hash, nil, key) == 1 else { return false }
    return signature.withUnsafeBytes { signature in
      message.withUnsafeBytes { message in
        EVP_DigestVerify(
          context, signature.bindMemory(to: UInt8.self).baseAddress, signature.count,
          message.bindMemory(to: UInt8.self).baseAddress, message.count) == 1
      }
    }
  }

  /// Whether the key is too short to be secure: an RSA key of less than 2048 bits.
  ///
  /// - SeeAlso: RFC 7518, section 3.3
  package var isWeak: Bool { kind == .rsa && EVP_PKEY_get_bits(key) < 2048 }

  // MARK: Writing

  /// Returns the key as PKCS#8 in PEM, encrypted if there is a passphrase.
  ///
  /// - SeeAlso: RFC 7468, sections 10 and 11
  package func pem(passphrase: String?) -> Data? {
    OpenSSL.leavingNoErrors {
      var size = 0
      let text =
        if let passphrase { sq_write_pem(key, passphrase, &size) } else {
          sq_write_pem(key, nil, &size)
        }
      guard let text else { return nil }
      defer { CRYPTO_clear_free(text, size, nil, 0) }
      return Data(bytes: text, count: size)
    }
  }

  /// The public half as members of a JSON Web Key.
  ///
  /// - SeeAlso: RFC 7518, section 6; RFC 8037, section 2
  package var publicMembers: [String: String] { kind.members(of: key) }
}

extension PrivateKey: Redacted {
  package var description: String { "a private key" }
}
