#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Finds objects that have two members of one name, in JSON text before it is decoded.
///
/// Programs differ in which of the two members they read, so one program may check a value and
/// another program may use the other value. Foundation's decoder alone reports no error.
///
/// - SeeAlso: RFC 8259, section 4; RFC 7515, section 4; RFC 7519, section 4
enum JSONNames {
  /// Whether each object of a text has each name once.
  ///
  /// For a text that is not JSON in UTF-8, the result has no meaning. Names are equal if Swift's
  /// strings are equal, as in the dictionaries of the decoder.
  static func areUnique(in text: Data) -> Bool {
    text.withUnsafeBytes { text in
      var scanner = JSONNameScanner(text: text)
      return scanner.namesAreUnique()
    }
  }
}

/// Reads a JSON text once, from its first byte to its last.
private struct JSONNameScanner {
  let text: UnsafeRawBufferPointer
  private var index = 0
  /// The names of each object that is open at this place; `nil` for an array.
  private var openNames: [Set<String>?] = []
  /// Whether the next string is the name of a member.
  private var expectsName = false

  init(text: UnsafeRawBufferPointer) {
    self.text = text
  }

  mutating func namesAreUnique() -> Bool {
    while index < text.count {
      switch text[index] {
      case UInt8(ascii: "{"):
        openNames.append([])
        expectsName = true
      case UInt8(ascii: "["):
        openNames.append(nil)
        expectsName = false
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        _ = openNames.popLast()
        expectsName = false
      case UInt8(ascii: ","):
        expectsName = openNames.last.flatMap(\.self) != nil
      case UInt8(ascii: "\""):
        guard takeString() else { return false }
      default: break
      }
      index += 1
    }
    return true
  }

  /// Moves to the end of a string; returns `false` if it is a name that its object already has.
  private mutating func takeString() -> Bool {
    let start = index
    var hasEscapes = false
    index += 1
    while index < text.count, text[index] != UInt8(ascii: "\"") {
      let isEscape = text[index] == UInt8(ascii: "\\")
      hasEscapes = hasEscapes || isEscape
      index += isEscape ? 2 : 1
    }
    guard index < text.count else { return false }
    guard expectsName else { return true }
    expectsName = false
    let name =
      hasEscapes
      ? Self.decoded(text[start...index])
      : String(decoding: text[start + 1..<index], as: UTF8.self)
    guard let name, let object = openNames.indices.last else { return false }
    return openNames[object]?.insert(name).inserted ?? true
  }

  /// The characters of a string with escapes, as the decoder of the whole text reads them.
  private static func decoded(_ string: Slice<UnsafeRawBufferPointer>) -> String? {
    try? JSONDecoder().decode(String.self, from: Data(string))
  }
}
