import CSQCrypto
package import SQFoundation

/// A public key as an OpenSSL object, for verifying any number of signatures.
///
/// Many threads may use a key, because it never changes.
package final class PublicKey: @unchecked Sendable {
  package enum Kind: Sendable, Hashable {
    case rsa
    case ellipticCurve(EllipticCurve)
    case ed25519
  }

  package let kind: Kind
  let key: OpaquePointer
  let verifications = PreparedVerifications()

  /// Creates an RSA key from two big-endian numbers; returns `nil` if they are not a valid key.
  ///
  /// A short key is also created, with ``isWeak`` set, so that an error can name the reason. The
  /// upper limits are OpenSSL's; a larger key would make each verification slow.
  ///
  /// - SeeAlso: RFC 8017, section 3.1
  package convenience init?(rsaModulus modulus: Data, exponent: Data) {
    let exponent = exponent.drop { $0 == 0 }
    let modulus = modulus.drop { $0 == 0 }
    guard let lastOfModulus = modulus.last, lastOfModulus & 1 == 1,
      let lastOfExponent = exponent.last, lastOfExponent & 1 == 1,
      exponent.count > 1 || lastOfExponent >= 3,
      exponent.count <= Int(OPENSSL_RSA_MAX_PUBEXP_BITS) / 8,
      modulus.count <= Int(OPENSSL_RSA_MAX_MODULUS_BITS) / 8
    else { return nil }
    self.init(.rsa) {
      modulus.withUnsafeBytes { modulus in
        exponent.withUnsafeBytes { exponent in
          sq_rsa_public_key(
            modulus.bindMemory(to: UInt8.self).baseAddress, modulus.count,
            exponent.bindMemory(to: UInt8.self).baseAddress, exponent.count)
        }
      }
    }
  }

  /// Creates an ECDSA key from a point; returns `nil` if the point is not on the curve.
  ///
  /// Each coordinate must have exactly the curve's size.
  ///
  /// - SeeAlso: RFC 7518, section 6.2.1.2
  package convenience init?(curve: EllipticCurve, x: Data, y: Data) {
    guard x.count == curve.coordinateSize, y.count == curve.coordinateSize else { return nil }
    let point = [0x04] + x + y
    self.init(.ellipticCurve(curve)) { sq_ec_public_key(curve.rawValue, point, point.count) }
    guard isChecked else { return nil }
  }

  /// Creates an Ed25519 key from its 32 bytes.
  ///
  /// - SeeAlso: RFC 8032, section 5.1.5
  package convenience init?(ed25519 bytes: Data) {
    guard bytes.count == 32 else { return nil }
    self.init(.ed25519) {
      bytes.withUnsafeBytes { bytes in
        EVP_PKEY_new_raw_public_key_ex(
          nil, "ED25519", nil, bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count)
      }
    }
  }

  /// Reads a key in PEM, as `openssl pkey -pubout` writes it; returns `nil` if the text has no key
  /// that the SDK supports.
  ///
  /// - SeeAlso: RFC 7468, section 13
  package convenience init?(pem text: Data) {
    OpenSSL.begin()
    let key = OpenSSL.leavingNoErrors {
      text.withUnsafeBytes { sq_read_public_pem($0.baseAddress, Int32($0.count)) }
    }
    guard let key else { return nil }
    guard let kind = Kind(of: key) else {
      EVP_PKEY_free(key)
      return nil
    }
    self.init(kind) { key }
  }

  /// The public members of the key, for a JSON Web Key.
  package var members: [String: String] { kind.members(of: key) }

  private init?(_ kind: Kind, _ make: () -> OpaquePointer?) {
    OpenSSL.begin()
    guard let key = OpenSSL.leavingNoErrors(make) else { return nil }
    self.kind = kind
    self.key = key
  }

  deinit {
    EVP_PKEY_free(key)
  }

  /// The number of bits of the modulus or of the curve.
  var bits: Int { Int(EVP_PKEY_get_bits(key)) }

  /// Whether the key is too short to be secure: an RSA key of less than 2048 bits.
  ///
  /// - SeeAlso: RFC 7518, section 3.3
  package var isWeak: Bool { kind == .rsa && bits < 2048 }

  /// Whether OpenSSL finds the point on the curve and in its group.
  ///
  /// - SeeAlso: EVP_PKEY_public_check(3)
  private var isChecked: Bool {
    OpenSSL.leavingNoErrors {
      let context = EVP_PKEY_CTX_new_from_pkey(nil, key, nil)
      defer { EVP_PKEY_CTX_free(context) }
      return context != nil && EVP_PKEY_public_check(context) == 1
    }
  }
}
