// Byte classes that all text formats share. The characters of a single protocol are defined next to
// the code that reads that protocol: once in the SDK and once in the sandbox, so that the two
// cannot share a mistake.
extension UInt8 {
  /// Whether the byte is one of `0` to `9`.
  @inlinable package var isDigit: Bool { self &- 0x30 < 10 }

  /// Whether the byte is an ASCII letter, in upper or lower case.
  @inlinable package var isLetter: Bool { (self | 0x20) &- 0x61 < 26 }

  /// Whether the byte is an ASCII letter or digit.
  @inlinable package var isAlphanumeric: Bool { isLetter || isDigit }

  /// Whether the byte is a space or a tab.
  @inlinable package var isBlank: Bool { self == 0x20 || self == 0x09 }

  /// The value of a hexadecimal digit in upper or lower case; `nil` for any other byte.
  @inlinable package var hexadecimalValue: UInt8? {
    if isDigit { return self - 0x30 }
    let letter = (self | 0x20) &- 0x61
    return letter < 6 ? letter + 10 : nil
  }
}

extension StringProtocol where SubSequence == Substring {
  /// The text without leading and trailing spaces and tabs.
  package var trimmed: Substring {
    Substring(Substring(self).utf8.trimmed)
  }
}

extension Substring.UTF8View {
  /// The bytes without leading and trailing spaces and tabs.
  package var trimmed: Substring.UTF8View {
    var bytes = drop(while: \.isBlank)
    while let last = bytes.last, last.isBlank { bytes = bytes.dropLast() }
    return bytes
  }
}
