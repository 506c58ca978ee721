import SQBasics
import SQFoundation

/// A reader of single members of a JSON object that ``JSONReader`` refuses as a whole.
///
/// It does not read the other members' values: it only finds their ends. So it has no limit on depth
/// and on the number of values, and needs no memory for them. It decides nothing that the rules for
/// whole messages decide: it is only for values that must not be lost.
struct OuterMembers {
  private let bytes: UnsafeRawBufferPointer
  private let names: Set<String>
  private var index = 0
  private var found: [String: JSONValue] = [:]

  /// Returns the values of the named members of the outermost object.
  ///
  /// An array or an object is an empty array here. The result is `nil` if the text is not a whole
  /// object, or if a named member occurs twice with different values.
  static func values(of names: Set<String>, in text: Data) -> [String: JSONValue]? {
    text.withUnsafeBytes { bytes in
      var reader = OuterMembers(bytes: bytes, names: names)
      return reader.readsObject() ? reader.found : nil
    }
  }

  private init(bytes: UnsafeRawBufferPointer, names: Set<String>) {
    self.bytes = bytes
    self.names = names
    // RFC 8259, section 8.1: a parser may ignore a byte order mark.
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { index = 3 }
  }

  private mutating func readsObject() -> Bool {
    guard takes("{") else { return false }
    if takes("}") { return isAtEnd() }
    repeat {
      guard let name = takeString(), takes(":"), keeps(takeValue(), as: name) else { return false }
    } while takes(",")
    return takes("}") && isAtEnd()
  }

  /// Keeps the value of a named member; returns `false` for a text that cannot be read.
  private mutating func keeps(_ value: Range<Int>?, as name: Range<Int>) -> Bool {
    guard let value else { return false }
    let plain = bytes[name].dropFirst().dropLast()
    let hasEscape = plain.contains(UInt8(ascii: "\\"))
    guard hasEscape || names.contains(where: { $0.utf8.elementsEqual(plain) }) else { return true }
    guard case .string(let text)? = decoded(name) else { return false }
    guard names.contains(text) else { return true }
    let content = decoded(value) ?? .array([])
    return found.updateValue(content, forKey: text).map { $0 == content } ?? true
  }

  /// Decodes a text, a number or a word; `nil` for any other value.
  private func decoded(_ range: Range<Int>) -> JSONValue? {
    guard ![UInt8(ascii: "{"), UInt8(ascii: "[")].contains(bytes[range.lowerBound]) else {
      return nil
    }
    return try? JSONReader.value(of: Data(bytes[range]), .signed)
  }

  // MARK: Where the parts of the text end

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

  /// Passes a string with its quotation marks.
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

  /// Passes a value of any kind.
  private mutating func takeValue() -> Range<Int>? {
    skipBlanks()
    let start = index
    var closers: [UInt8] = []
    repeat {
      guard passesPart(&closers) else { return nil }
    } while !closers.isEmpty
    return index > start ? start..<index : nil
  }

  /// Passes a string, a word, a number, or one character between them.
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
