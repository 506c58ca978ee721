import SQFoundation

/// Parsing of JSON text from clients.
extension SandboxJSON {
  /// Parses JSON with Foundation's decoder, and returns `nil` if the text is malformed.
  ///
  /// The members of an object are sorted by name.
  public init?(parsing text: String) {
    guard let json = try? JSONDecoder().decode(ParsedJSON.self, from: Data(text.utf8)) else {
      return nil
    }
    self = json.value
  }

  /// Parses the text of a JSON object, and returns `nil` if it is anything else.
  init?(object text: Data) {
    let json = Self(parsing: String(decoding: text, as: UTF8.self))
    guard let json, case .object = json else { return nil }
    self = json
  }
}

/// A JSON value of any kind, for Foundation's decoder, which needs a `Decodable` type.
private struct ParsedJSON: Decodable {
  let value: SandboxJSON

  private struct Name: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  /// Tries the most frequent kinds of single values first, because each wrong try throws an error.
  init(from decoder: any Decoder) throws {
    if let single = Self.single(try decoder.singleValueContainer()) {
      value = single
    } else if var array = try? decoder.unkeyedContainer() {
      var values: [SandboxJSON] = []
      while !array.isAtEnd { values.append(try array.decode(ParsedJSON.self).value) }
      value = .array(values)
    } else {
      let object = try decoder.container(keyedBy: Name.self)
      let names = object.allKeys.sorted { $0.stringValue < $1.stringValue }
      value = .object(
        try names.map {
          .init($0.stringValue, try object.decode(ParsedJSON.self, forKey: $0).value)
        })
    }
  }

  private static func single(_ container: any SingleValueDecodingContainer) -> SandboxJSON? {
    if let string = try? container.decode(String.self) { return .string(string) }
    if let integer = try? container.decode(Int.self) { return .integer(integer) }
    if container.decodeNil() { return .null }
    if let bool = try? container.decode(Bool.self) { return .bool(bool) }
    if let number = try? container.decode(Double.self) { return .literal("\(number)") }
    return nil
  }
}
