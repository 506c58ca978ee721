import SQFoundation

/// A writer of one object as JSON, with the members in the given order.
///
/// It is for data that every refresh writes: `JSONEncoder` takes many times as long. A member whose
/// value is `nil` is omitted. An extension writes values of ``JSONValue``.
///
/// - SeeAlso: RFC 8259
struct JSONWriter {
  /// The error for a number that JSON cannot represent, because it is infinite or not a number.
  struct NoNumber: Error {}

  private var bytes: [UInt8] = []

  /// Returns an object as JSON; the closure writes its members.
  static func object(
    _ members: (inout JSONWriter) throws(NoNumber) -> Void
  ) throws(NoNumber) -> Data {
    var writer = JSONWriter()
    writer.bytes.reserveCapacity(2048)
    try writer.object(members)
    return Data(writer.bytes)
  }

  /// Returns a text as a JSON string.
  static func string(_ text: String) -> [UInt8] {
    var writer = JSONWriter()
    writer.write(text)
    return writer.bytes
  }

  /// Begins an object that is then written member by member; ``end()`` ends it.
  mutating func begin() { bytes.append(UInt8(ascii: "{")) }

  /// Ends the object, and returns it as JSON.
  mutating func end() -> Data {
    bytes.append(UInt8(ascii: "}"))
    return Data(bytes)
  }

  // MARK: Members

  mutating func member(_ name: String, _ text: String?) {
    guard let text else { return }
    begin(name)
    write(text)
  }

  mutating func member(_ name: String, _ number: Int64) {
    begin(name)
    write(ascii: String(number))
  }

  mutating func member(_ name: any CodingKey, _ text: String?) {
    guard let text else { return }
    begin(name)
    write(text)
  }

  mutating func member(_ name: any CodingKey, _ number: Int?) {
    guard let number else { return }
    begin(name)
    write(ascii: String(number))
  }

  /// Writes `true`; a member that is `false` is omitted.
  mutating func member(_ name: any CodingKey, ifTrue flag: Bool) {
    guard flag else { return }
    begin(name)
    write(ascii: "true")
  }

  /// Writes a date as `Codable` does: as seconds since the start of 2001.
  mutating func member(_ name: any CodingKey, _ date: Date?) throws(NoNumber) {
    guard let date else { return }
    begin(name)
    try write(date.timeIntervalSinceReferenceDate)
  }

  mutating func member(_ name: any CodingKey, _ number: Double?) throws(NoNumber) {
    guard let number else { return }
    begin(name)
    try write(number)
  }

  /// Writes texts sorted by name; the member is omitted if there are none.
  mutating func member(_ name: any CodingKey, _ texts: [String: String]) throws(NoNumber) {
    guard !texts.isEmpty else { return }
    try member(name) { writer throws(NoNumber) in
      for (name, text) in Self.sorted(texts) {
        writer.begin(name)
        writer.write(text)
      }
    }
  }

  mutating func member(
    _ name: any CodingKey, _ members: (inout JSONWriter) throws(NoNumber) -> Void
  ) throws(NoNumber) {
    begin(name)
    try object(members)
  }

  /// Writes a member whose value is already JSON.
  mutating func member(_ name: any CodingKey, json: Data) {
    begin(name)
    write(json: json)
  }

  // MARK: Values

  mutating func object(
    _ members: (inout JSONWriter) throws(NoNumber) -> Void
  ) throws(NoNumber) {
    bytes.append(UInt8(ascii: "{"))
    try members(&self)
    bytes.append(UInt8(ascii: "}"))
  }

  mutating func begin(_ name: any CodingKey) { begin(name.stringValue) }

  mutating func begin(_ name: String) {
    if bytes.last != UInt8(ascii: "{") { bytes.append(UInt8(ascii: ",")) }
    write(name)
    bytes.append(UInt8(ascii: ":"))
  }

  /// Returns the members sorted by the bytes of their names.
  static func sorted<Value>(_ members: [String: Value]) -> [(key: String, value: Value)] {
    members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
  }

  /// Writes the shortest digits that restore the same number, without a final `.0`.
  mutating func write(_ number: Double) throws(NoNumber) {
    guard number.isFinite else { throw NoNumber() }
    let text = number.description
    write(ascii: text.hasSuffix(".0") ? String(text.dropLast(2)) : text)
  }

  mutating func write(ascii text: String) { bytes += text.utf8 }

  mutating func write(json: Data) { bytes += json }

  mutating func write(_ text: String) {
    var text = text
    bytes.append(UInt8(ascii: "\""))
    text.withUTF8 { characters in
      if characters.allSatisfy({ $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != 0x5C }) {
        bytes += characters
      } else {
        for character in characters { write(escaping: character) }
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  /// Writes the escape sequence of a character.
  ///
  /// - SeeAlso: RFC 8259, section 7
  private mutating func write(escaping character: UInt8) {
    let letter: Character
    switch character {
    case UInt8(ascii: "\""): letter = "\""
    case 0x5C: letter = "\\"
    case 0x08: letter = "b"
    case 0x09: letter = "t"
    case 0x0A: letter = "n"
    case 0x0C: letter = "f"
    case 0x0D: letter = "r"
    case ..<0x20:
      let digits = String(character, radix: 16)
      return write(ascii: "\\u" + String(repeating: "0", count: 4 - digits.count) + digits)
    default: return bytes.append(character)
    }
    write(ascii: "\\\(letter)")
  }
}
