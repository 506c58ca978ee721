public import Basics

/// Header or trailer fields: an ordered list whose names compare without case.
///
/// Values are kept as they came. Printing shows the names only, since a value may be a credential.
public struct HTTPFields: Sendable, Hashable, ExpressibleByDictionaryLiteral {
  /// One field.
  public struct Field: Sendable, Hashable {
    /// The name as it was written.
    public let name: String
    /// The value without surrounding white space.
    public let value: String

    /// Makes a field.
    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  private var fields: [Field]

  /// Makes a list of fields, in order.
  public init(_ fields: [Field] = []) {
    self.fields = fields
  }

  /// Makes a list of fields from a literal, in order.
  public init(dictionaryLiteral elements: (String, String)...) {
    fields = elements.map { Field(name: $0.0, value: $0.1) }
  }

  /// The first value of a name; setting it replaces every field of that name, `nil` removes them.
  public subscript(name: String) -> String? {
    get { fields.first { Self.same($0.name, name) }?.value }
    set {
      let index = fields.firstIndex { Self.same($0.name, name) }
      fields.removeAll { Self.same($0.name, name) }
      guard let newValue else { return }
      fields.insert(Field(name: name, value: newValue), at: index ?? fields.endIndex)
    }
  }

  /// Every value of a name, in order.
  public func values(for name: String) -> [String] {
    fields.filter { Self.same($0.name, name) }.map(\.value)
  }

  /// Adds a field behind those that are there.
  public mutating func append(_ field: Field) {
    fields.append(field)
  }

  /// Names are ASCII tokens (RFC 9110, section 5.1), so only ASCII letters fold.
  private static func same(_ first: String, _ second: String) -> Bool {
    first.utf8.count == second.utf8.count
      && zip(first.utf8, second.utf8).allSatisfy { fold($0) == fold($1) }
  }

  private static func fold(_ byte: UInt8) -> UInt8 {
    (0x41...0x5A).contains(byte) ? byte | 0x20 : byte
  }
}

extension HTTPFields: RandomAccessCollection {
  /// The position of the first field.
  public var startIndex: Int { fields.startIndex }
  /// The position behind the last field.
  public var endIndex: Int { fields.endIndex }
  /// The field at a position.
  public subscript(position: Int) -> Field { fields[position] }
}

extension HTTPFields: Redacted {
  /// The names, without values.
  public var description: String { "[" + fields.map(\.name).joined(separator: ", ") + "]" }
}

extension HTTPFields.Field: Redacted {
  /// The name, without the value.
  public var description: String { name }
}
