import CSQCrypto
package import SQFoundation

/// Methods that verify signatures with OpenSSL.
extension PublicKey {
  /// Returns whether a message's signature was created with the private half of this key.
  ///
  /// A signature of another scheme, of a wrong length or in a wrong format is not valid.
  package func isValid(_ signature: Data, of message: Data, by scheme: SignatureScheme) -> Bool {
    guard kind == scheme.keyKind else { return false }
    return OpenSSL.leavingNoErrors {
      guard let signature = openSSLForm(of: signature) else { return false }
      return signature.withUnsafeBytes { signature in
        message.withUnsafeBytes { verify(signature, of: $0, by: scheme) }
      }
    }
  }

  /// Returns the signature in OpenSSL's format; `nil` if its length is wrong for the key.
  private func openSSLForm(of signature: Data) -> Data? {
    switch kind {
    case .ellipticCurve(let curve): Self.derForm(of: signature, curve)
    // OpenSSL would add zeros to a PSS signature that is too short.
    case .rsa: signature.count == EVP_PKEY_get_size(key) ? signature : nil
    case .ed25519: signature
    }
  }

  /// Returns the numbers r and s of an ECDSA signature in DER; `nil` if its length is wrong.
  ///
  /// OpenSSL rejects numbers that are 0 or not below the order of the curve.
  ///
  /// - SeeAlso: RFC 7518, section 3.4; ECDSA_SIG_new(3)
  private static func derForm(of signature: Data, _ curve: EllipticCurve) -> Data? {
    let size = curve.coordinateSize
    guard signature.count == 2 * size, let numbers = ECDSA_SIG_new() else { return nil }
    defer { ECDSA_SIG_free(numbers) }
    signature.withUnsafeBytes { signature in
      let start = signature.bindMemory(to: UInt8.self).baseAddress
      _ = ECDSA_SIG_set0(
        numbers, BN_bin2bn(start, Int32(size), nil),
        BN_bin2bn(start?.advanced(by: size), Int32(size), nil))
    }
    var form: UnsafeMutablePointer<UInt8>?
    let length = i2d_ECDSA_SIG(numbers, &form)
    guard length > 0, let form else { return nil }
    defer { CRYPTO_free(form, nil, 0) }
    return Data(bytes: form, count: Int(length))
  }

  private func verify(
    _ signature: UnsafeRawBufferPointer, of message: UnsafeRawBufferPointer,
    by scheme: SignatureScheme
  ) -> Bool {
    guard let context = EVP_MD_CTX_new() else { return false }
    defer { EVP_MD_CTX_free(context) }
    guard verifications.prepare(context, key, scheme) else { return false }
    return EVP_DigestVerify(
      context, signature.bindMemory(to: UInt8.self).baseAddress, signature.count,
      message.bindMemory(to: UInt8.self).baseAddress, message.count) == 1
  }
}
