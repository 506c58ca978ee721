extension String {
  /// The text with the letters A to Z in lower case, for case-insensitive protocol names.
  ///
  /// Swift's `lowercased()` would also convert the Kelvin sign U+212A to a `k`.
  package func asciiLowercased() -> String {
    utf8.contains(where: \.isUppercase) ? String(lowercasing: utf8) : self
  }

  fileprivate init(lowercasing text: some Collection<UInt8>) {
    // Only bytes of ASCII change, so the text stays well-formed UTF-8.
    self.init(unsafeUninitializedCapacity: text.count) { buffer in
      buffer.initialize(fromContentsOf: text.lazy.map { $0.isUppercase ? $0 | 0x20 : $0 })
    }
  }
}

extension Substring {
  /// The text with the letters A to Z in lower case, for case-insensitive protocol names.
  package func asciiLowercased() -> String {
    utf8.contains(where: \.isUppercase) ? String(lowercasing: utf8) : String(self)
  }
}

extension UInt8 {
  /// Whether the byte is one of the letters A to Z in ASCII.
  fileprivate var isUppercase: Bool { 0x41...0x5A ~= self }
}
