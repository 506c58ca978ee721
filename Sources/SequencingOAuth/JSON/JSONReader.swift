import SQBasics
package import SQFoundation

/// A parser for one JSON text; it works in a single pass, and can pause within a long text.
///
/// The work depends only on the number of bytes, not on their content, so no text from a server
/// takes unusually long to parse.
///
/// - SeeAlso: RFC 8259
package struct JSONReader {
  /// The token that is allowed after the next white space.
  private enum Expected {
    /// A value: an array's element, a member's value, or the whole text.
    case value
    /// A value, or the end of an empty array.
    case valueOrEnd
    /// A member's name.
    case name
    /// A member's name, or the end of an empty object.
    case nameOrEnd
    /// A comma or a closing bracket after a value, or the end of the text.
    case next
  }

  /// An open array or object, with the positions of its first value in `values` and of its first
  /// name in `names`.
  private struct Container {
    let firstValue: Int
    let firstName: Int
    let isObject: Bool
  }

  let rules: JSONRules
  var index: Int
  /// The repaired strings so far, in their order.
  var repairs: [Repair] = []
  let text: Data
  private var expected = Expected.value
  private var containers: [Container] = []
  /// The values read so far in all open containers; at the end, only the value of the whole text.
  private var values: [JSONValue] = []
  /// The names of the members read so far in all open objects.
  private var names: [String] = []
  private var valueCount = 0
  private var weight = 0

  init(_ text: Data, _ rules: JSONRules) throws(JSONFailure) {
    guard text.count <= rules.maximumBytes else { throw .tooLong }
    guard !Self.isUTF16(text) else { throw .utf16 }
    self.text = text
    self.rules = rules
    // RFC 8259, section 8.1: a byte order mark is not allowed, but a parser may ignore it.
    let mayHaveMark = !rules.isStrict || rules.mayHaveMark
    index = mayHaveMark && text.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
  }

  /// Returns whether a text begins with UTF-16's byte order mark, or has a zero among its first two
  /// bytes.
  private static func isUTF16(_ text: Data) -> Bool {
    let start = Array(text.prefix(2))
    guard start.count == 2 else { return false }
    return start == [0xFF, 0xFE] || start == [0xFE, 0xFF] || start.contains(0)
  }

  /// Parses a whole text at once.
  package static func value(
    of text: Data, _ rules: JSONRules = .message
  ) throws(JSONFailure) -> JSONValue {
    var reader = try JSONReader(text, rules)
    while true {
      if let value = try reader.read(atMost: .max) { return value }
    }
  }

  /// Parses a whole text, with pauses in which other tasks run and a cancellation is noticed.
  package static func valueWithPauses(
    of text: Data, _ rules: JSONRules, isCancelled: () -> Bool
  ) async throws(JSONFailure) -> JSONValue {
    var reader = try JSONReader(text, rules)
    return try await reader.valueWithPauses(isCancelled: isCancelled)
  }

  /// Parses the whole text, with pauses in which other tasks run and a cancellation is noticed.
  mutating func valueWithPauses(
    isCancelled: () -> Bool
  ) async throws(JSONFailure) -> JSONValue {
    while true {
      if let value = try read(atMost: Self.valuesBetweenPauses) { return value }
      guard !isCancelled() else { throw .cancelled }
      await Task.yield()
    }
  }

  /// The number of values between two pauses; they take about a millisecond.
  private static let valuesBetweenPauses = 5000

  /// Parses at most `count` more values, and returns the text's value when it is complete.
  mutating func read(atMost count: Int) throws(JSONFailure) -> JSONValue? {
    let (sum, isBeyond) = valueCount.addingReportingOverflow(count)
    let end = isBeyond ? .max : sum
    let text = text
    return try text.withUnsafeBytes { bytes in
      Result { () throws(JSONFailure) in try read(bytes, until: end) }
    }.get()
  }

  private mutating func read(
    _ bytes: UnsafeRawBufferPointer, until end: Int
  ) throws(JSONFailure) -> JSONValue? {
    while valueCount < end {
      skipBlanks(in: bytes)
      guard index < bytes.count else {
        guard expected == .next, containers.isEmpty else { throw .malformed(at: index) }
        return values.last
      }
      try take(bytes[index], of: bytes)
    }
    return nil
  }

  private mutating func skipBlanks(in bytes: UnsafeRawBufferPointer) {
    while index < bytes.count {
      switch bytes[index] {
      case 0x20, 0x0A, 0x0D, 0x09: index += 1
      default: return
      }
    }
  }

  private mutating func take(
    _ byte: UInt8, of bytes: UnsafeRawBufferPointer
  ) throws(JSONFailure) {
    switch (expected, byte) {
    case (.next, UInt8(ascii: ",")):
      guard let container = containers.last else { throw .malformed(at: index) }
      index += 1
      expected = container.isObject ? .name : .value
    case (.next, UInt8(ascii: "}")), (.nameOrEnd, UInt8(ascii: "}")):
      try close(isObject: true)
    case (.next, UInt8(ascii: "]")), (.valueOrEnd, UInt8(ascii: "]")):
      try close(isObject: false)
    case (.name, UInt8(ascii: "\"")), (.nameOrEnd, UInt8(ascii: "\"")):
      names.append(try string(in: bytes))
      skipBlanks(in: bytes)
      guard index < bytes.count, bytes[index] == UInt8(ascii: ":") else {
        throw .malformed(at: index)
      }
      index += 1
      expected = .value
    case (.value, _), (.valueOrEnd, _):
      try takeValue(byte, of: bytes)
    default:
      throw .malformed(at: index)
    }
  }

  private mutating func takeValue(
    _ byte: UInt8, of bytes: UnsafeRawBufferPointer
  ) throws(JSONFailure) {
    valueCount += 1
    weight += containers.count
    guard valueCount <= rules.maximumValues, weight <= rules.maximumWeight else {
      throw .tooManyValues
    }
    expected = .next
    switch byte {
    case UInt8(ascii: "{"): try open(isObject: true)
    case UInt8(ascii: "["): try open(isObject: false)
    case UInt8(ascii: "\""): values.append(.string(try string(in: bytes)))
    case UInt8(ascii: "t"): try takeWord("true", .bool(true), of: bytes)
    case UInt8(ascii: "f"): try takeWord("false", .bool(false), of: bytes)
    case UInt8(ascii: "n"): try takeWord("null", .null, of: bytes)
    default: values.append(try number(in: bytes))
    }
  }

  private mutating func open(isObject: Bool) throws(JSONFailure) {
    guard containers.count < rules.maximumDepth else { throw .tooDeep }
    containers.append(
      Container(firstValue: values.count, firstName: names.count, isObject: isObject))
    index += 1
    expected = isObject ? .nameOrEnd : .valueOrEnd
  }

  private mutating func close(isObject: Bool) throws(JSONFailure) {
    guard let container = containers.popLast(), container.isObject == isObject else {
      throw .malformed(at: index)
    }
    index += 1
    expected = .next
    let value =
      isObject
      ? JSONValue.object(try members(from: container))
      : .array(Array(values[container.firstValue...]))
    values.removeSubrange(container.firstValue...)
    names.removeSubrange(container.firstName...)
    values.append(value)
  }

  /// Returns the members of an object.
  ///
  /// If two members have the same name, the first one is used, unless the rules make it an error.
  private func members(from container: Container) throws(JSONFailure) -> [String: JSONValue] {
    var members: [String: JSONValue] = [:]
    members.reserveCapacity(names.count - container.firstName)
    for (name, value) in zip(names[container.firstName...], values[container.firstValue...]) {
      if let first = members.updateValue(value, forKey: name) {
        guard !rules.isStrict else { throw .doubleName(name) }
        guard first == value || !rules.decisive.contains(name) else {
          throw .ambiguous(name)
        }
        members[name] = first
      }
    }
    return members
  }

  private mutating func takeWord(
    _ word: StaticString, _ value: JSONValue, of bytes: UnsafeRawBufferPointer
  ) throws(JSONFailure) {
    let letters = UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
    guard bytes[index...].starts(with: letters) else { throw .malformed(at: index) }
    index += letters.count
    values.append(value)
  }
}
