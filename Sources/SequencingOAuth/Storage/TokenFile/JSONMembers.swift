import SQFoundation

/// The members of a JSON object, whose values are not parsed.
///
/// An object may have very many members of which only one is needed.
enum JSONMembers {
  /// Returns the members in their order; the values share the text's memory.
  ///
  /// Returns `nil` if the text is no object. The values may contain mistakes.
  static func split(_ object: Data) -> [(name: String, value: Data)]? {
    let parts = object.withUnsafeBytes { bytes in
      var scanner = Scanner(bytes: bytes)
      return scanner.members()
    }
    guard let parts else { return nil }
    var members: [(name: String, value: Data)] = []
    members.reserveCapacity(parts.count)
    func text(_ range: Range<Int>) -> Data {
      object[object.startIndex + range.lowerBound..<object.startIndex + range.upperBound]
    }
    for part in parts {
      guard let name = try? JSONReader.value(of: text(part.name), .stored).string else {
        return nil
      }
      members.append((name, text(part.value)))
    }
    return members
  }

  private struct Scanner {
    let bytes: UnsafeRawBufferPointer
    var index = 0

    mutating func members() -> [(name: Range<Int>, value: Range<Int>)]? {
      var members: [(name: Range<Int>, value: Range<Int>)] = []
      guard take(UInt8(ascii: "{")) else { return nil }
      if !take(UInt8(ascii: "}")) {
        repeat {
          guard let name = string(), take(UInt8(ascii: ":")), let value = value() else {
            return nil
          }
          members.append((name, value))
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "}")) else { return nil }
      }
      skipBlanks()
      return index == bytes.count ? members : nil
    }

    private mutating func skipBlanks() {
      while index < bytes.count, Self.isBlank(bytes[index]) { index += 1 }
    }

    /// Skips blanks and then a byte, if it comes next.
    private mutating func take(_ byte: UInt8) -> Bool {
      skipBlanks()
      guard index < bytes.count, bytes[index] == byte else { return false }
      index += 1
      return true
    }

    /// Skips a string and returns its place, with its quotation marks.
    private mutating func string() -> Range<Int>? {
      let quote = UInt8(ascii: "\"")
      guard take(quote) else { return nil }
      let start = index - 1
      while index < bytes.count {
        let byte = bytes[index]
        index += byte == UInt8(ascii: "\\") ? 2 : 1
        if byte == quote { return start..<index }
      }
      return nil
    }

    /// Skips a value and returns its place.
    private mutating func value() -> Range<Int>? {
      skipBlanks()
      let start = index
      var depth = 0
      while index < bytes.count {
        switch bytes[index] {
        case UInt8(ascii: "\""):
          guard string() != nil else { return nil }
        case UInt8(ascii: "{"), UInt8(ascii: "["):
          depth += 1
          index += 1
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
          guard depth > 0 else { return end(from: start) }
          depth -= 1
          index += 1
        case UInt8(ascii: ",") where depth == 0:
          return end(from: start)
        default:
          index += 1
        }
      }
      return nil
    }

    /// Returns the place of a value that ends here, without blanks at its end, unless it is empty.
    private func end(from start: Int) -> Range<Int>? {
      var end = index
      while end > start, Self.isBlank(bytes[end - 1]) { end -= 1 }
      return start < end ? start..<end : nil
    }

    private static func isBlank(_ byte: UInt8) -> Bool { [0x20, 0x0A, 0x0D, 0x09].contains(byte) }
  }
}
