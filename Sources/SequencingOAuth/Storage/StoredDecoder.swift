package import SQFoundation

/// A decoder for the SDK's own values in stores: it reads JSON that `JSONEncoder` or
/// ``JSONWriter`` has written.
///
/// It is for data that every start and every refresh reads: `JSONDecoder` takes several times as
/// long. Dates are seconds since the start of 2001.
package struct StoredDecoder: Decoder {
  private struct Mismatch: Error {}

  package var codingPath: [any CodingKey] { [] }
  package var userInfo: [CodingUserInfoKey: Any] { [:] }
  private let value: JSONValue

  /// Decodes a stored value that may contain an account's key; returns `nil` if it is damaged.
  ///
  /// - Throws: ``SQOAuthError/Code/storeFailed`` if this process cannot read the key now.
  package static func value<Value: Decodable>(
    _ type: Value.Type, from bytes: Data
  ) throws(SQOAuthError) -> Value? {
    do {
      return try decode(type, from: try JSONReader.value(of: bytes, .stored))
    } catch let error as KeyUnread {
      throw SQOAuthError(
        .storeFailed, "a stored key cannot be read, and nothing was changed: \(error.lack)")
    } catch {
      return nil
    }
  }

  /// Decodes a stored value whose bytes are whole, as a digest or a seal has shown.
  ///
  /// - Throws: ``SQOAuthError/Code/storeTooNew`` if the bytes are not such a value: then a later
  ///   version of the SDK wrote them. `name` says in the message what they are.
  package static func whole<Value: Decodable>(
    _ type: Value.Type, from bytes: Data, named name: @autoclosure () -> String
  ) throws(SQOAuthError) -> Value {
    guard let value = try Self.value(type, from: bytes) else { throw .tooNew(name()) }
    return value
  }

  package func container<Key: CodingKey>(
    keyedBy type: Key.Type
  ) throws -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(try Members<Key>(value))
  }

  package func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try Elements(value) }

  package func singleValueContainer() -> any SingleValueDecodingContainer { Single(value: value) }

  /// Decodes a value of any type.
  fileprivate static func decode<Value: Decodable>(
    _ type: Value.Type, from value: JSONValue
  ) throws -> Value {
    let known: Any? =
      switch (value, type) {
      case (.string(let text), is String.Type): text
      case (.integer(let number), is Double.Type): Double(number)
      case (.number(let number), is Double.Type): number
      case (.integer(let number), is Date.Type):
        Date(timeIntervalSinceReferenceDate: Double(number))
      case (.number(let number), is Date.Type): Date(timeIntervalSinceReferenceDate: number)
      case (.integer(let number), let type as any FixedWidthInteger.Type):
        type.init(exactly: number)
      case (.bool(let flag), is Bool.Type): flag
      case (_, is JSONValue.Type): value
      case (.object(let members), is [String: JSONValue].Type): members
      default: nil
      }
    // `known` is unwrapped first, because a cast of `nil` to an optional `Value` would succeed.
    if let known, let value = known as? Value { return value }
    // Without this check, `Float`, for example, would recurse forever: its `init(from:)` asks a
    // single-value container for a `Float`, and the container calls this method again.
    guard !(type is any LosslessStringConvertible.Type) else { throw Mismatch() }
    return try Value(from: StoredDecoder(value: value))
  }
}

extension StoredDecoder {
  private struct Members<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let members: [String: JSONValue]

    init(_ value: JSONValue) throws {
      guard case .object(let members) = value else { throw Mismatch() }
      self.members = members
    }

    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { members.keys.compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool { members[key.stringValue] != nil }

    private func member(_ key: Key) throws -> JSONValue {
      guard let member = members[key.stringValue] else { throw Mismatch() }
      return member
    }

    func decodeNil(forKey key: Key) throws -> Bool { try member(key) == .null }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
      try StoredDecoder.decode(type, from: try member(key))
    }

    func decodeIfPresent<Value: Decodable>(
      _ type: Value.Type, forKey key: Key
    ) throws -> Value? {
      guard let member = members[key.stringValue], member != .null else { return nil }
      return try StoredDecoder.decode(type, from: member)
    }

    func nestedContainer<NestedKey: CodingKey>(
      keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
      KeyedDecodingContainer(try Members<NestedKey>(try member(key)))
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
      try Elements(try member(key))
    }

    func superDecoder() throws -> any Decoder { throw Mismatch() }
    func superDecoder(forKey key: Key) throws -> any Decoder { throw Mismatch() }
  }

  private struct Elements: UnkeyedDecodingContainer {
    let elements: [JSONValue]
    var currentIndex = 0

    init(_ value: JSONValue) throws {
      guard case .array(let elements) = value else { throw Mismatch() }
      self.elements = elements
    }

    var codingPath: [any CodingKey] { [] }
    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex >= elements.count }

    private mutating func next() throws -> JSONValue {
      guard !isAtEnd else { throw Mismatch() }
      defer { currentIndex += 1 }
      return elements[currentIndex]
    }

    mutating func decodeNil() throws -> Bool {
      guard !isAtEnd else { throw Mismatch() }
      guard elements[currentIndex] == .null else { return false }
      currentIndex += 1
      return true
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
      try StoredDecoder.decode(type, from: try next())
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
      keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> {
      KeyedDecodingContainer(try Members<NestedKey>(try next()))
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
      try Elements(try next())
    }

    mutating func superDecoder() throws -> any Decoder { StoredDecoder(value: try next()) }
  }

  private struct Single: SingleValueDecodingContainer {
    let value: JSONValue
    var codingPath: [any CodingKey] { [] }

    func decodeNil() -> Bool { value == .null }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
      try StoredDecoder.decode(type, from: value)
    }
  }
}
