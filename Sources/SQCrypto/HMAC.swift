import CSQCrypto
package import SQFoundation

/// Keyed message authentication codes (HMAC).
///
/// - SeeAlso: RFC 2104
package enum HMAC {
  /// Returns whether an HMAC is valid for a message; compares in constant time.
  package static func isValid(
    _ code: Data, of message: Data, secret: Data, by function: HashFunction
  ) -> Bool {
    guard let expected = self.code(of: message, secret: secret, by: function) else { return false }
    return OpenSSL.areEqual(code, expected)
  }

  /// Returns the HMAC of a message; `nil` if OpenSSL fails.
  package static func code(of message: Data, secret: Data, by function: HashFunction) -> Data? {
    var code = Data(count: function.digestSize)
    let succeeded = OpenSSL.leavingNoErrors {
      message.withUnsafeBytes { message in
        secret.withUnsafeBytes { secret in
          code.withUnsafeMutableBytes { code in
            CSQCrypto.HMAC(
              function.implementation, secret.baseAddress, Int32(secret.count),
              message.bindMemory(to: UInt8.self).baseAddress, message.count,
              code.bindMemory(to: UInt8.self).baseAddress, nil) != nil
          }
        }
      }
    }
    return succeeded ? code : nil
  }
}
