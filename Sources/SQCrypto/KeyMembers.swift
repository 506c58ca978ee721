import CSQCrypto
import SQFoundation

// The kind and the public members of OpenSSL's keys.
extension PublicKey.Kind {
  /// Determines the kind of a key; `nil` if the SDK does not support it.
  init?(of key: OpaquePointer) {
    if EVP_PKEY_is_a(key, "RSA") == 1 {
      self = .rsa
    } else if EVP_PKEY_is_a(key, "ED25519") == 1 {
      self = .ed25519
    } else if let curve = EllipticCurve(of: key) {
      self = .ellipticCurve(curve)
    } else {
      return nil
    }
  }

  /// Returns the public members of a key of this kind as a JSON Web Key has them.
  ///
  /// - SeeAlso: RFC 7518, section 6; RFC 8037, section 2
  func members(of key: OpaquePointer) -> [String: String] {
    switch self {
    case .rsa:
      [
        "kty": "RSA", "n": Self.number("n", of: key, size: nil),
        "e": Self.number("e", of: key, size: nil),
      ]
    case .ellipticCurve(let curve):
      [
        "kty": "EC", "crv": curve.rawValue,
        "x": Self.number("qx", of: key, size: curve.coordinateSize),
        "y": Self.number("qy", of: key, size: curve.coordinateSize),
      ]
    case .ed25519: ["kty": "OKP", "crv": "Ed25519", "x": Self.rawKey(key)]
    }
  }

  private static func number(_ name: String, of key: OpaquePointer, size: Int?) -> String {
    var number: OpaquePointer?
    // A key from another OpenSSL provider, such as a hardware token, might not reveal its numbers.
    guard EVP_PKEY_get_bn_param(key, name, &number) == 1 else { return "" }
    defer { BN_free(number) }
    var bytes = Data(count: size ?? (Int(BN_num_bits(number)) + 7) / 8)
    bytes.withUnsafeMutableBytes { bytes in
      _ = BN_bn2binpad(
        number, bytes.bindMemory(to: UInt8.self).baseAddress, Int32(bytes.count))
    }
    return Base64URL.encode(bytes)
  }

  private static func rawKey(_ key: OpaquePointer) -> String {
    var size = 32
    var bytes = Data(count: size)
    bytes.withUnsafeMutableBytes { bytes in
      _ = EVP_PKEY_get_raw_public_key(key, bytes.bindMemory(to: UInt8.self).baseAddress, &size)
    }
    return Base64URL.encode(bytes)
  }
}

extension EllipticCurve {
  /// Determines the curve of a key; `nil` if the key has no curve that the SDK supports.
  fileprivate init?(of key: OpaquePointer) {
    guard EVP_PKEY_is_a(key, "EC") == 1 else { return nil }
    var name = [CChar](repeating: 0, count: 64)
    guard EVP_PKEY_get_group_name(key, &name, name.count, nil) == 1,
      let curve = Self.allCases.first(where: { OBJ_txt2nid(name) == $0.identifier })
    else { return nil }
    self = curve
  }

  /// OpenSSL's number for the curve; its names for the curve vary.
  fileprivate var identifier: Int32 {
    switch self {
    case .p256: NID_X9_62_prime256v1
    case .p384: NID_secp384r1
    case .p521: NID_secp521r1
    }
  }
}
