import SQFoundation

/// A generator of strings that cannot be guessed, for `state`, `nonce` and the code verifier.
package enum RandomString {
  /// Returns 256 new random bits as 43 unreserved characters.
  ///
  /// - SeeAlso: RFC 6819, section 5.1.4.2.2; RFC 7636, section 4.1
  package static func make() -> String { make(words: 4) }

  /// Returns 128 new random bits as 22 unreserved characters, for a name that must be unique.
  package static func makeName() -> String { make(words: 2) }

  private static func make(words: Int) -> String {
    // On Linux and Apple platforms this generator gets its bits from the kernel.
    var generator = SystemRandomNumberGenerator()
    var bytes = Data(capacity: 8 * words)
    for _ in 0..<words {
      withUnsafeBytes(of: generator.next()) { bytes.append(contentsOf: $0) }
    }
    return Base64URL.encode(bytes)
  }
}
