import CSQCrypto
import SQBasics
import SQFoundation

/// An OpenSSL key object, created for one operation.
///
/// If the sandbox cannot create one of its own keys or sign with it, the program ends.
final class OpenSSLKey: Redacted {
  private let key: OpaquePointer

  init(generating family: SandboxSigningAlgorithm.Family, rsaBits: Int32) {
    let name =
      switch family {
      case .rsa, .pss: "RSA"
      case .ecdsa: "EC"
      case .ed25519, .hmac: "ED25519"
      }
    let context = EVP_PKEY_CTX_new_from_name(nil, name, nil)
    defer { EVP_PKEY_CTX_free(context) }
    EVP_PKEY_keygen_init(context)
    switch family {
    case .rsa, .pss: EVP_PKEY_CTX_set_rsa_keygen_bits(context, rsaBits)
    case .ecdsa(let curve, _): EVP_PKEY_CTX_set_group_name(context, curve)
    case .ed25519, .hmac: break
    }
    var made: OpaquePointer?
    EVP_PKEY_generate(context, &made)
    key = Self.checked(made)
  }

  init(privateDER: Data) {
    key = Self.checked(
      privateDER.withUnsafeBytes { bytes in
        var start = bytes.bindMemory(to: UInt8.self).baseAddress
        return d2i_AutoPrivateKey(nil, &start, bytes.count)
      })
  }

  init(hmacSecret: Data) {
    key = Self.checked(
      hmacSecret.withUnsafeBytes { bytes in
        EVP_PKEY_new_raw_private_key(
          EVP_PKEY_HMAC, nil, bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count)
      })
  }

  /// Takes ownership of a key and frees it with this object.
  init(owning key: OpaquePointer) {
    self.key = key
  }

  deinit {
    EVP_PKEY_free(key)
  }

  private static func checked(_ pointer: OpaquePointer?) -> OpaquePointer {
    guard let pointer else { preconditionFailure("OpenSSL could not make a key of the sandbox.") }
    return pointer
  }

  // MARK: Signing

  /// Returns the signature in OpenSSL's form; for ECDSA, that is a pair of integers in DER.
  func signature(of bytes: Data, _ algorithm: SandboxSigningAlgorithm) -> Data {
    let context = EVP_MD_CTX_new()
    defer { EVP_MD_CTX_free(context) }
    var keyContext: OpaquePointer?
    var hash = algorithm.hash
    if case .ed25519 = algorithm.family { hash = nil }
    EVP_DigestSignInit(context, &keyContext, hash, nil, key)
    if case .pss = algorithm.family {
      EVP_PKEY_CTX_set_rsa_padding(keyContext, RSA_PKCS1_PSS_PADDING)
      // The salt is as long as the hash (RFC 7518, section 3.5).
      EVP_PKEY_CTX_set_rsa_pss_saltlen(keyContext, RSA_PSS_SALTLEN_DIGEST)
    }
    let input = [UInt8](bytes)
    var count = 0
    EVP_DigestSign(context, nil, &count, input, input.count)
    var signature = [UInt8](repeating: 0, count: count)
    let isSigned = EVP_DigestSign(context, &signature, &count, input, input.count) == 1
    precondition(isSigned, "OpenSSL could not sign with a key of the sandbox.")
    return Data(signature.prefix(count))
  }

  /// Returns whether a signature in OpenSSL's form matches the key and the message.
  func isValid(
    openSSL signature: [UInt8], of message: [UInt8], _ algorithm: SandboxSigningAlgorithm
  ) -> Bool {
    let context = EVP_MD_CTX_new()
    defer { EVP_MD_CTX_free(context) }
    var keyContext: OpaquePointer?
    var hash = algorithm.hash
    if case .ed25519 = algorithm.family { hash = nil }
    guard EVP_DigestVerifyInit(context, &keyContext, hash, nil, key) == 1 else { return false }
    if case .pss = algorithm.family {
      EVP_PKEY_CTX_set_rsa_padding(keyContext, RSA_PKCS1_PSS_PADDING)
      EVP_PKEY_CTX_set_rsa_pss_saltlen(keyContext, RSA_PSS_SALTLEN_DIGEST)
    }
    return EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
  }

  /// Returns the two integers of an ECDSA signature, each at full length (RFC 7518, section 3.4).
  static func joinedIntegers(of der: Data, coordinateBytes: Int) -> Data {
    let signature = der.withUnsafeBytes { bytes in
      var start = bytes.bindMemory(to: UInt8.self).baseAddress
      return d2i_ECDSA_SIG(nil, &start, bytes.count)
    }
    defer { ECDSA_SIG_free(signature) }
    return padded(ECDSA_SIG_get0_r(signature), to: coordinateBytes)
      + padded(ECDSA_SIG_get0_s(signature), to: coordinateBytes)
  }

  private static func padded(_ number: OpaquePointer?, to count: Int) -> Data {
    var bytes = [UInt8](repeating: 0, count: count)
    BN_bn2binpad(number, &bytes, Int32(count))
    return Data(bytes)
  }

  // MARK: The parts of the key

  /// Returns the public parameters of the key's JWK (RFC 7518, section 6; RFC 8037, section 2).
  func parameters(_ family: SandboxSigningAlgorithm.Family) -> [SandboxJSON.Member] {
    let numbers: [SandboxJSON.Member] =
      switch family {
      case .rsa, .pss: [.init("n", number("n")), .init("e", number("e"))]
      case .ecdsa(_, let count): [.init("x", number("qx", count)), .init("y", number("qy", count))]
      case .ed25519: [.init("x", .string(Crypto.base64URL(rawPublicKey)))]
      case .hmac: []
      }
    return family.keyType + numbers
  }

  /// Returns one of the key's integers in base64url, in `count` bytes or as few as possible.
  private func number(_ name: String, _ count: Int? = nil) -> SandboxJSON {
    var number: OpaquePointer?
    EVP_PKEY_get_bn_param(key, name, &number)
    defer { BN_free(number) }
    let ownBytes = (Int(BN_num_bits(number)) + 7) / 8
    return .string(Crypto.base64URL(Self.padded(number, to: count ?? ownBytes)))
  }

  private var rawPublicKey: Data {
    var count = 32
    var bytes = [UInt8](repeating: 0, count: count)
    EVP_PKEY_get_raw_public_key(key, &bytes, &count)
    return Data(bytes)
  }

  var privateDER: Data { Self.der { i2d_PrivateKey(key, $0) } }

  var publicDER: Data { Self.der { i2d_PUBKEY(key, $0) } }

  private static func der(
    _ write: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32
  ) -> Data {
    var bytes = [UInt8](repeating: 0, count: Int(write(nil)))
    bytes.withUnsafeMutableBufferPointer { buffer in
      var start = buffer.baseAddress
      _ = write(&start)
    }
    return Data(bytes)
  }
}
