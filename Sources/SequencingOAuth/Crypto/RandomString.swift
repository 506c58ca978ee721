#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Unguessable strings for `state`, `nonce` and the code verifier.
enum RandomString {
  /// 256 fresh random bits as 43 unreserved characters.
  ///
  /// - SeeAlso: RFC 6819, section 5.1.4.2.2; RFC 7636, section 4.1
  static func make() -> String {
    // The standard library's generator reads the kernel's on Linux and Apple platforms.
    var generator = SystemRandomNumberGenerator()
    var bytes = Data(capacity: 32)
    for _ in 0..<4 {
      withUnsafeBytes(of: generator.next()) { bytes.append(contentsOf: $0) }
    }
    return base64URL(bytes)
  }

  /// Base64url without padding.
  ///
  /// - SeeAlso: RFC 7636, appendix A
  static func base64URL(_ bytes: Data) -> String {
    String(
      String.UnicodeScalarView(
        bytes.base64EncodedString().unicodeScalars.compactMap { scalar -> Unicode.Scalar? in
          switch scalar {
          case "+": "-"
          case "/": "_"
          case "=": nil
          default: scalar
          }
        }))
  }
}
