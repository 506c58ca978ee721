import SQBasics
import SQFoundation

/// A scanner that finds the members of a JSON object, and the ends of their values.
///
/// It does not read the values. So it has no limit on depth and on the number of values, and needs
/// no memory for them.
struct JSONMembers {
  private let bytes: UnsafeRawBufferPointer
  private var index = 0

  /// Calls a closure for each member with the byte ranges of the quoted name and of the value.
  ///
  /// Returns `false` if the text is not a whole object, or as soon as the closure returns `false`.
  static func scan(
    _ bytes: UnsafeRawBufferPointer, _ takes: (_ name: Range<Int>, _ value: Range<Int>) -> Bool
  ) -> Bool {
    var scanner = JSONMembers(bytes: bytes)
    // RFC 8259, section 8.1: a parser may ignore a byte order mark.
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { scanner.index = 3 }
    return scanner.readsObject(takes)
  }

  /// Returns the members of an object in their order; `nil` if the text is not a whole object.
  ///
  /// The values share the text's memory.
  static func split(_ object: Data) -> [(name: String, value: Data)]? {
    var members: [(name: String, value: Data)] = []
    func text(_ place: Range<Int>) -> Data {
      object[object.startIndex + place.lowerBound..<object.startIndex + place.upperBound]
    }
    let isWhole = object.withUnsafeBytes { bytes in
      scan(bytes) { name, value in
        guard let name = try? JSONReader.value(of: text(name), .stored).string else { return false }
        members.append((name, text(value)))
        return true
      }
    }
    return isWhole ? members : nil
  }

  private init(bytes: UnsafeRawBufferPointer) {
    self.bytes = bytes
  }

  private mutating func readsObject(
    _ body: (_ name: Range<Int>, _ value: Range<Int>) -> Bool
  ) -> Bool {
    guard takes("{") else { return false }
    if takes("}") { return isAtEnd() }
    repeat {
      guard let name = takeString(), takes(":"), let value = takeValue(), body(name, value) else {
        return false
      }
    } while takes(",")
    return takes("}") && isAtEnd()
  }

  private mutating func skipBlanks() {
    while index < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[index]) { index += 1 }
  }

  private mutating func isAtEnd() -> Bool {
    skipBlanks()
    return index == bytes.count
  }

  private mutating func takes(_ character: Unicode.Scalar) -> Bool {
    skipBlanks()
    guard index < bytes.count, bytes[index] == UInt8(ascii: character) else { return false }
    index += 1
    return true
  }

  /// Skips a string, and returns its range with the quotation marks.
  private mutating func takeString() -> Range<Int>? {
    guard takes("\"") else { return nil }
    let start = index - 1
    while index < bytes.count {
      switch bytes[index] {
      case UInt8(ascii: "\""):
        index += 1
        return start..<index
      case UInt8(ascii: "\\"): index += 2
      default: index += 1
      }
    }
    return nil
  }

  /// Skips a value of any kind, and returns its range.
  private mutating func takeValue() -> Range<Int>? {
    skipBlanks()
    let start = index
    var closers: [UInt8] = []
    repeat {
      guard passesPart(&closers) else { return nil }
    } while !closers.isEmpty
    return index > start ? start..<index : nil
  }

  /// Skips a string, a number, a word such as `null`, or a structural character.
  private mutating func passesPart(_ closers: inout [UInt8]) -> Bool {
    skipBlanks()
    guard index < bytes.count else { return false }
    switch bytes[index] {
    case UInt8(ascii: "\""): return takeString() != nil
    case UInt8(ascii: "{"): closers.append(UInt8(ascii: "}"))
    case UInt8(ascii: "["): closers.append(UInt8(ascii: "]"))
    case UInt8(ascii: "}"), UInt8(ascii: "]"):
      guard closers.popLast() == bytes[index] else { return false }
    case UInt8(ascii: ","), UInt8(ascii: ":"):
      guard !closers.isEmpty else { return false }
    default: return passesWord()
    }
    index += 1
    return true
  }

  private mutating func passesWord() -> Bool {
    let start = index
    while index < bytes.count, bytes[index].isAlphanumeric || "+-.".utf8.contains(bytes[index]) {
      index += 1
    }
    return index > start
  }
}
