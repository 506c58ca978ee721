/// A key on the keyboard that the user pressed.
enum Key: Sendable, Equatable {
  case character(Character)
  case enter
  case escape
  /// Ctrl-C or Ctrl-D.
  case interrupt
  /// Ctrl-Z.
  case suspend

  /// Decodes the keys from the bytes of a terminal in raw mode, and skips keys that no screen uses.
  static func decode(_ bytes: some Sequence<UInt8>) -> [Key] {
    var keys: [Key] = []
    var rest = Array(bytes)[...]
    while let byte = rest.popFirst() {
      switch byte {
      case 0x03, 0x04: keys.append(.interrupt)
      case 0x1A: keys.append(.suspend)
      case 0x0A, 0x0D: keys.append(.enter)
      case 0x1B:
        // A single byte is the Escape key; an arrow key or a function key sends several bytes.
        if rest.isEmpty { keys.append(.escape) } else { skipSequence(&rest) }
      case 0x20...0x7E: keys.append(.character(Character(Unicode.Scalar(byte))))
      default: break
      }
    }
    return keys
  }

  /// Skips the rest of a sequence: `[` with its parameters, `O` with a character, or the character
  /// that was typed with Alt.
  ///
  /// - SeeAlso: ECMA-48, section 5.4
  private static func skipSequence(_ rest: inout ArraySlice<UInt8>) {
    switch rest.popFirst() {
    case UInt8(ascii: "["):
      while let byte = rest.popFirst(), !(0x40...0x7E).contains(byte) {}
    case UInt8(ascii: "O"): _ = rest.popFirst()
    default: break
    }
  }
}
