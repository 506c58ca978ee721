extension StringProtocol {
  /// Returns the text with the letters A to Z in lower case, for case-insensitive protocol names.
  ///
  /// Swift's `lowercased()` would also convert the Kelvin sign U+212A to a `k`.
  package func asciiLowercased() -> String {
    String(decoding: utf8.map { 0x41...0x5A ~= $0 ? $0 | 0x20 : $0 }, as: UTF8.self)
  }
}
