import CSQCrypto
import SQFoundation

/// Verification of signatures that clients made.
extension OpenSSLKey {
  /// Reads a public key, and returns `nil` if the JSON Web Key is malformed or of an unsupported
  /// kind.
  convenience init?(publicJWK jwk: SandboxJSON) {
    func bytes(_ name: String) -> [UInt8]? {
      guard case .string(let text)? = jwk[name] else { return nil }
      return Crypto.bytes(base64URL: text).map([UInt8].init)
    }
    Crypto.prepare()
    let key: OpaquePointer?
    switch (jwk["kty"], jwk["crv"]) {
    case (.string("RSA")?, _):
      guard let modulus = bytes("n"), let exponent = bytes("e") else { return nil }
      key = sq_rsa_public_key(modulus, modulus.count, exponent, exponent.count)
    case (.string("EC")?, .string(let curve)?):
      guard let x = bytes("x"), let y = bytes("y") else { return nil }
      key = sq_ec_public_key(curve, [4] + x + y, 1 + x.count + y.count)
    case (.string("OKP")?, .string("Ed25519")?):
      guard let x = bytes("x") else { return nil }
      key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, x, x.count)
    default:
      return nil
    }
    guard let key else {
      ERR_clear_error()
      return nil
    }
    self.init(owning: key)
  }

  /// Returns whether a signature in JWS form was made with this key's private half.
  func isValid(
    _ signature: Data, of message: Data, _ algorithm: SandboxSigningAlgorithm
  ) -> Bool {
    defer { ERR_clear_error() }
    var signature = [UInt8](signature)
    if case .ecdsa(_, let size) = algorithm.family {
      guard signature.count == 2 * size else { return false }
      signature = Self.der(r: signature[..<size], s: signature[size...])
    }
    return isValid(openSSL: signature, of: [UInt8](message), algorithm)
  }

  private static func der(r: ArraySlice<UInt8>, s: ArraySlice<UInt8>) -> [UInt8] {
    let numbers = ECDSA_SIG_new()
    defer { ECDSA_SIG_free(numbers) }
    ECDSA_SIG_set0(
      numbers, BN_bin2bn(Array(r), Int32(r.count), nil), BN_bin2bn(Array(s), Int32(s.count), nil))
    var bytes = [UInt8](repeating: 0, count: Int(i2d_ECDSA_SIG(numbers, nil)))
    bytes.withUnsafeMutableBufferPointer { bytes in
      var start = bytes.baseAddress
      _ = i2d_ECDSA_SIG(numbers, &start)
    }
    return bytes
  }
}
