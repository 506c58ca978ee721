import CSQCrypto
package import SQFoundation

/// Methods that sign with OpenSSL.
extension PrivateKey {
  /// Returns the signature of a message in the format of JWS; `nil` if the key does not match the
  /// scheme, or if OpenSSL fails.
  package func signature(of message: Data, by scheme: SignatureScheme) -> Data? {
    guard kind == scheme.keyKind else { return nil }
    return OpenSSL.leavingNoErrors {
      var isPSS = false
      if case .rsaPSS = scheme { isPSS = true }
      let hash = scheme.hashFunction?.implementation
      guard let signature = openSSLSignature(of: message, hash: hash, isPSS: isPSS) else {
        return nil
      }
      guard case .ecdsa(let curve, _) = scheme else { return signature }
      return Self.numbers(inDER: signature, curve)
    }
  }

  /// Returns the signature in OpenSSL's format: DER for ECDSA.
  func openSSLSignature(
    of message: Data, hash: OpaquePointer?, isPSS: Bool = false
  ) -> Data? {
    let context = EVP_MD_CTX_new()
    defer { EVP_MD_CTX_free(context) }
    // `context` owns the key's context, so only `context` is freed.
    var keyContext: OpaquePointer?
    guard EVP_DigestSignInit(context, &keyContext, hash, nil, key) == 1 else { return nil }
    if isPSS {
      guard EVP_PKEY_CTX_set_rsa_padding(keyContext, RSA_PKCS1_PSS_PADDING) == 1,
        EVP_PKEY_CTX_set_rsa_pss_saltlen(keyContext, RSA_PSS_SALTLEN_DIGEST) == 1
      else { return nil }
    }
    return message.withUnsafeBytes { message in
      let message = message.bindMemory(to: UInt8.self)
      var size = 0
      guard
        EVP_DigestSign(context, nil, &size, message.baseAddress, message.count) == 1
      else { return nil }
      var signature = [UInt8](repeating: 0, count: size)
      guard
        EVP_DigestSign(context, &signature, &size, message.baseAddress, message.count) == 1
      else { return nil }
      return Data(signature.prefix(size))
    }
  }

  /// Returns the numbers r and s of a DER signature, each in the size of a coordinate.
  ///
  /// - SeeAlso: RFC 7518, section 3.4
  private static func numbers(inDER signature: Data, _ curve: EllipticCurve) -> Data? {
    let numbers = signature.withUnsafeBytes { bytes in
      var start = bytes.bindMemory(to: UInt8.self).baseAddress
      return d2i_ECDSA_SIG(nil, &start, bytes.count)
    }
    guard let numbers else { return nil }
    defer { ECDSA_SIG_free(numbers) }
    let size = curve.coordinateSize
    var bytes = [UInt8](repeating: 0, count: 2 * size)
    let isWritten = bytes.withUnsafeMutableBufferPointer { bytes in
      BN_bn2binpad(ECDSA_SIG_get0_r(numbers), bytes.baseAddress, Int32(size)) == Int32(size)
        && BN_bn2binpad(
          ECDSA_SIG_get0_s(numbers), bytes.baseAddress?.advanced(by: size), Int32(size))
          == Int32(size)
    }
    return isWritten ? Data(bytes) : nil
  }
}
