extension StringProtocol {
  /// The text with the letters A to Z in lower case, as protocols compare names without case.
  ///
  /// Swift's own call would also make the Kelvin sign U+212A a `k`.
  package func asciiLowercased() -> String {
    String(decoding: utf8.map { 0x41...0x5A ~= $0 ? $0 | 0x20 : $0 }, as: UTF8.self)
  }
}
