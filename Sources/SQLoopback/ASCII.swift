import SQBasics

/// Names for single bytes, and the byte classes that HTTP uses (RFC 9110, section 5.6).
enum ASCII {
  static let tab: UInt8 = 0x09
  static let lineFeed: UInt8 = 0x0A
  static let carriageReturn: UInt8 = 0x0D
  static let space: UInt8 = 0x20
  static let dot: UInt8 = 0x2E
  static let slash: UInt8 = 0x2F
  static let zero: UInt8 = 0x30
  static let one: UInt8 = 0x31
  static let colon: UInt8 = 0x3A
  static let semicolon: UInt8 = 0x3B

  /// Returns whether the byte is a control character that no line may contain: any except the tab.
  static func isControl(_ byte: UInt8) -> Bool {
    (byte < space && byte != tab) || byte == 0x7F
  }

  static func isToken(_ byte: UInt8) -> Bool {
    if byte.isAlphanumeric { return true }
    switch byte {
    case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E, 0x5F, 0x60, 0x7C, 0x7E: return true
    default: return false
    }
  }

  /// Returns whether a request target may contain the byte: visible ASCII except `"`, `#`, `<`,
  /// `>`.
  ///
  /// Browsers do not encode `[ ] { } | ^` in a query, so RFC 3986 alone would be too strict.
  static func isTarget(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x22, 0x23, 0x3C, 0x3E: false
    default: byte > space && byte < 0x7F
    }
  }

  /// Returns whether `uri-host [ ":" port ]` may contain the byte; user information is not allowed.
  static func isAuthority(_ byte: UInt8) -> Bool {
    if byte.isAlphanumeric { return true }
    switch byte {
    case 0x21, 0x24...0x2E, 0x3A, 0x3B, 0x3D, 0x5B, 0x5D, 0x5F, 0x7E: return true
    default: return false
    }
  }

  /// Returns the bytes as text, with the letters A to Z in lower case.
  static func lowercased(_ bytes: ArraySlice<UInt8>) -> String {
    String(unsafeUninitializedCapacity: bytes.count) { target in
      var count = 0
      for byte in bytes {
        target[count] = byte &- 0x41 < 26 ? byte | 0x20 : byte
        count += 1
      }
      return count
    }
  }
}
