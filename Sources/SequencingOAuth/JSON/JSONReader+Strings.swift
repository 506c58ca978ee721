import SQBasics

extension JSONReader {
  /// Parses a string whose opening quotation mark is at the index.
  mutating func string(in bytes: UnsafeRawBufferPointer) throws(JSONFailure) -> String {
    let start = index + 1
    var end = start
    var allBits: UInt8 = 0
    while true {
      guard end < bytes.count else { throw .malformed(at: index) }
      let byte = bytes[end]
      if byte == UInt8(ascii: "\"") { break }
      if byte == UInt8(ascii: "\\") {
        return try stringWithEscapes(in: bytes, from: start, upTo: end)
      }
      if byte < 0x20, rules.isStrict { throw .malformed(at: end) }
      allBits |= byte
      end += 1
    }
    index = end + 1
    let content = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
    // A text in ASCII is not validated, because that takes twice as long as the copy.
    return allBits < 0x80
      ? String(decoding: content, as: UTF8.self) : try text(content, at: start)
  }

  /// Decodes UTF-8; invalid bytes become U+FFFD, or throw if the rules are strict.
  private mutating func text(
    _ bytes: some Collection<UInt8>, at place: Int
  ) throws(JSONFailure) -> String {
    guard rules.isStrict else {
      return try bounded(String(decoding: bytes, as: UTF8.self), at: place)
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw .malformed(at: place)
    }
    return try bounded(text, at: place)
  }

  /// Repairs, rejects or keeps a string with too many combining marks in a row.
  ///
  /// Members' names are hashed, and the time for that would be the square of their length.
  private mutating func bounded(_ text: String, at place: Int) throws(JSONFailure) -> String {
    guard !rules.keepsLongRuns, !text.isStreamSafe else { return text }
    guard !rules.isStrict else { throw .tooManyMarks }
    let safe = text.streamSafe
    repairs.append(Repair(place: place - 1..<index, text: safe))
    return safe
  }

  private mutating func stringWithEscapes(
    in bytes: UnsafeRawBufferPointer, from start: Int, upTo escape: Int
  ) throws(JSONFailure) -> String {
    var content = [UInt8](bytes[start..<escape])
    var place = escape
    while place < bytes.count {
      let byte = bytes[place]
      switch byte {
      case UInt8(ascii: "\""):
        index = place + 1
        return try text(content, at: start)
      case UInt8(ascii: "\\"):
        try takeEscape(in: bytes, at: &place, into: &content)
      default:
        if byte < 0x20, rules.isStrict { throw .malformed(at: place) }
        content.append(byte)
        place += 1
      }
    }
    throw .malformed(at: place)
  }

  private func takeEscape(
    in bytes: UnsafeRawBufferPointer, at place: inout Int, into content: inout [UInt8]
  ) throws(JSONFailure) {
    guard place + 1 < bytes.count else { throw .malformed(at: place) }
    switch bytes[place + 1] {
    case UInt8(ascii: "u"):
      content += try takeScalar(in: bytes, at: &place).utf8
      return
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): content.append(bytes[place + 1])
    case UInt8(ascii: "b"): content.append(0x08)
    case UInt8(ascii: "f"): content.append(0x0C)
    case UInt8(ascii: "n"): content.append(0x0A)
    case UInt8(ascii: "r"): content.append(0x0D)
    case UInt8(ascii: "t"): content.append(0x09)
    default: throw .malformed(at: place)
    }
    place += 2
  }

  /// Parses an escape sequence `\uXXXX`, or two of them that form a surrogate pair.
  private func takeScalar(
    in bytes: UnsafeRawBufferPointer, at place: inout Int
  ) throws(JSONFailure) -> String {
    let first = try codeUnit(in: bytes, at: place)
    place += 6
    if let scalar = Unicode.Scalar(first) { return String(scalar) }
    if UTF16.isLeadSurrogate(first), place + 1 < bytes.count, bytes[place] == UInt8(ascii: "\\"),
      bytes[place + 1] == UInt8(ascii: "u")
    {
      let second = try codeUnit(in: bytes, at: place)
      if UTF16.isTrailSurrogate(second) {
        place += 6
        return String(decoding: [first, second], as: UTF16.self)
      }
    }
    guard !rules.isStrict else { throw .malformed(at: place) }
    return "\u{FFFD}"
  }

  private func codeUnit(in bytes: UnsafeRawBufferPointer, at place: Int) throws(JSONFailure)
    -> UInt16
  {
    guard place + 6 <= bytes.count else { throw .malformed(at: place) }
    var unit: UInt16 = 0
    for byte in bytes[place + 2..<place + 6] {
      guard let digit = byte.hexadecimalValue else { throw .malformed(at: place) }
      unit = unit << 4 | UInt16(digit)
    }
    return unit
  }
}
