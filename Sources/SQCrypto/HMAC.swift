import CSQCrypto

#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  import Foundation
#endif

/// Codes that only the holder of a secret can make and check.
///
/// - SeeAlso: RFC 2104
package enum HMAC {
  /// Whether a code belongs to a message, compared in a time that does not depend on the code.
  package static func isValid(
    _ code: Data, of message: Data, secret: Data, by function: HashFunction
  ) -> Bool {
    guard let expected = self.code(of: message, secret: secret, by: function) else { return false }
    return OpenSSL.areEqual(code, expected)
  }

  /// The code of a message; `nil` if OpenSSL fails.
  static func code(of message: Data, secret: Data, by function: HashFunction) -> Data? {
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
