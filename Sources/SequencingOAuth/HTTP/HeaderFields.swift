public import SQBasics

/// An ordered list of header or trailer fields with case-insensitive names.
///
/// Values are not changed. Only a response's value with more than 30 combining marks in a row gets
/// U+034F after each 30 of them. A printed list shows only the names, because a value may be a
/// credential.
public struct HeaderFields: Sendable, Hashable, ExpressibleByDictionaryLiteral {
  /// One header or trailer field: a name and a value.
  public struct Field: Sendable, Hashable {
    /// The name as written.
    public let name: String
    /// The value; in a response, without leading and trailing white space.
    public let value: String

    /// Creates a field from a name and a value.
    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  private var fields: [Field]

  /// Creates a list of fields, in order.
  public init(_ fields: [Field] = []) {
    self.fields = fields
  }

  /// Creates a list of fields from a literal, in order.
  public init(dictionaryLiteral elements: (String, String)...) {
    fields = elements.map { Field(name: $0.0, value: $0.1) }
  }

  /// The value of the first field with a name; `nil` if there is none.
  ///
  /// Setting a value replaces all fields with that name by a single field. Setting `nil` removes
  /// them.
  public subscript(name: String) -> String? {
    get { fields.first { Self.same($0.name, name) }?.value }
    set {
      let index = fields.firstIndex { Self.same($0.name, name) }
      fields.removeAll { Self.same($0.name, name) }
      guard let newValue else { return }
      fields.insert(Field(name: name, value: newValue), at: index ?? fields.endIndex)
    }
  }

  /// Returns the values of all fields with a name, in order.
  public func values(for name: String) -> [String] {
    fields.filter { Self.same($0.name, name) }.map(\.value)
  }

  /// Appends a field to the list.
  public mutating func append(_ field: Field) {
    fields.append(field)
  }

  /// These fields with stream-safe names and values.
  var streamSafe: HeaderFields {
    let isSafe = fields.allSatisfy { $0.name.isStreamSafe && $0.value.isStreamSafe }
    if isSafe { return self }
    return HeaderFields(fields.map { Field(name: $0.name.streamSafe, value: $0.value.streamSafe) })
  }

  /// Returns whether two names are equal except for the case of ASCII letters.
  ///
  /// Field names are ASCII tokens (RFC 9110, section 5.1).
  private static func same(_ first: String, _ second: String) -> Bool {
    // A fast path: most equal names have the same case.
    first == second
      || first.utf8.count == second.utf8.count
        && zip(first.utf8, second.utf8).allSatisfy { fold($0) == fold($1) }
  }

  private static func fold(_ byte: UInt8) -> UInt8 {
    (0x41...0x5A).contains(byte) ? byte | 0x20 : byte
  }
}

extension HeaderFields: RandomAccessCollection {
  /// The position of the first field.
  public var startIndex: Int { fields.startIndex }
  /// The position after the last field.
  public var endIndex: Int { fields.endIndex }
  /// The field at a position.
  public subscript(position: Int) -> Field { fields[position] }
}

extension HeaderFields: Redacted {
  /// The names of the fields, without their values.
  public var description: String { "[" + fields.map(\.name).joined(separator: ", ") + "]" }
}

extension HeaderFields.Field: Redacted {
  /// The name of the field, without its value.
  public var description: String { name }
}
