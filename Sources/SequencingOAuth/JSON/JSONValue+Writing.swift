import SQFoundation

// Methods that write the JSON values of a message into the JSON text of an account's record.
extension JSONWriter {
  /// Writes an object as a member of the record, with the object's members sorted by name.
  mutating func member(_ name: any CodingKey, _ values: [String: JSONValue]) throws(NoNumber) {
    begin(name)
    try write(values)
  }

  mutating func member(_ name: any CodingKey, _ value: JSONValue) throws(NoNumber) {
    begin(name)
    try write(value)
  }

  private mutating func write(_ value: JSONValue) throws(NoNumber) {
    switch value {
    case .null: write(ascii: "null")
    case .bool(let flag): write(ascii: flag ? "true" : "false")
    case .integer(let number): write(ascii: String(number))
    case .number(let number): try write(number)
    case .string(let text): write(text)
    case .object(let values): try write(values)
    case .array(let values):
      write(ascii: "[")
      for (index, value) in values.enumerated() {
        if index > 0 { write(ascii: ",") }
        try write(value)
      }
      write(ascii: "]")
    }
  }

  private mutating func write(_ values: [String: JSONValue]) throws(NoNumber) {
    try object { writer throws(NoNumber) in
      for (name, value) in Self.sorted(values) {
        writer.begin(name)
        try writer.write(value)
      }
    }
  }
}

extension JSONValue {
  /// Returns the value as JSON, with sorted names and without spaces.
  ///
  /// `purpose` names the value in the error for a number that JSON cannot represent.
  func json(_ purpose: String) throws(SQOAuthError) -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      return try encoder.encode(self)
    } catch {
      throw SQOAuthError(
        .invalidConfiguration,
        "\(purpose) cannot be written as JSON, because of an infinite number or NaN", cause: error)
    }
  }

  /// Returns the value as JSON text, for a parameter of a request.
  func jsonText(_ purpose: String) throws(SQOAuthError) -> String {
    String(decoding: try json(purpose), as: UTF8.self)
  }
}
