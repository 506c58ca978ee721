import SQBasics

/// A text without the escape sequences of one notation, and the place where each byte came from.
///
/// A server may repeat a secret in another notation than the one in which it was sent.
struct DecodedText {
  /// The notations in which a server may repeat a text.
  enum Notation: CaseIterable {
    /// A text without escape sequences.
    case plain
    /// `%2F` or `%2f` for `/`, as in a URL.
    case percent
    /// The notation of a form: that of a URL, and `+` for a space.
    case form
    /// `\/` or `\u002F` for `/`, as in a JSON string.
    case json
  }

  private var bytes: [UInt8] = []
  /// The place of each byte in the text, and then the end of the text.
  private var starts: [Int] = []

  /// Decodes the UTF-8 bytes of a text; what is no escape sequence stays as it is.
  init(_ text: [UInt8], _ notation: Notation) {
    var place = 0
    while place < text.count {
      let length: Int
      switch (notation, text[place]) {
      case (.percent, UInt8(ascii: "%")), (.form, UInt8(ascii: "%")):
        length = takePercent(in: text, at: place)
      case (.form, UInt8(ascii: "+")):
        length = append(CollectionOfOne(0x20), at: place, ofLength: 1)
      case (.json, UInt8(ascii: "\\")):
        length = takeBackslash(in: text, at: place)
      case (_, let byte):
        length = append(CollectionOfOne(byte), at: place, ofLength: 1)
      }
      place += length
    }
    starts.append(text.count)
  }

  /// Returns the places in the text where the decoded bytes are these.
  func places(of part: some StringProtocol) -> [Range<Int>] {
    bytes.ranges(of: Array(part.utf8)).map { starts[$0.lowerBound]..<starts[$0.upperBound] }
  }

  /// Returns the places in the text where the decoded bytes look like a JWT, or begin like one.
  ///
  /// The header of every JWT begins with `{"`, which is `eyJ` in base64url.
  func placesOfJWTs() -> [Range<Int>] {
    let words = bytes.split { !$0.isAlphanumeric && !"-._".utf8.contains($0) }
    return words.compactMap { word in
      guard let start = word.firstRange(of: Array("eyJ".utf8))?.lowerBound,
        word.endIndex - start >= 20
      else { return nil }
      return starts[start]..<starts[word.endIndex]
    }
  }

  private mutating func takePercent(in text: [UInt8], at place: Int) -> Int {
    let digits = text[(place + 1)...].prefix(2).compactMap(\.hexadecimalValue)
    guard digits.count == 2 else {
      return append(CollectionOfOne(text[place]), at: place, ofLength: 1)
    }
    return append(CollectionOfOne(digits[0] << 4 | digits[1]), at: place, ofLength: 3)
  }

  private mutating func takeBackslash(in text: [UInt8], at place: Int) -> Int {
    guard let next = text[(place + 1)...].first else {
      return append(CollectionOfOne(text[place]), at: place, ofLength: 1)
    }
    guard let unit = Self.codeUnit(in: text, at: place) else {
      return append(CollectionOfOne(next), at: place, ofLength: 2)
    }
    // A character outside of the Basic Multilingual Plane is a pair of surrogates.
    if UTF16.isLeadSurrogate(unit), let trail = Self.codeUnit(in: text, at: place + 6),
      UTF16.isTrailSurrogate(trail)
    {
      let character = String(decoding: [unit, trail], as: UTF16.self)
      return append(character.utf8, at: place, ofLength: 12)
    }
    return append(String(decoding: [unit], as: UTF16.self).utf8, at: place, ofLength: 6)
  }

  /// Returns the number in an escape sequence `\uXXXX` at a place; `nil` if there is none.
  private static func codeUnit(in text: [UInt8], at place: Int) -> UInt16? {
    let sequence = text.dropFirst(place).prefix(6)
    let digits = sequence.dropFirst(2).compactMap(\.hexadecimalValue)
    guard sequence.starts(with: "\\u".utf8), digits.count == 4 else { return nil }
    return digits.reduce(0) { $0 << 4 | UInt16($1) }
  }

  /// Appends decoded bytes, and returns the length of their spelling.
  private mutating func append(
    _ decoded: some Collection<UInt8>, at place: Int, ofLength length: Int
  ) -> Int {
    bytes += decoded
    starts += repeatElement(place, count: decoded.count)
    return length
  }
}
