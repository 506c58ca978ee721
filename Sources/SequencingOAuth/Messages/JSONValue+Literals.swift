/// Values as they are written in Swift: `["title": "Holiday", "tags": ["sea", 2026], "owner": .null]`.
///
/// `nil` is no literal of a value, since it stands for a missing one; JSON's is ``null``.
extension JSONValue: ExpressibleByStringInterpolation, ExpressibleByBooleanLiteral,
  ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByArrayLiteral,
  ExpressibleByDictionaryLiteral
{
  /// Makes a string.
  public init(stringLiteral value: String) { self = .string(value) }

  /// Makes `true` or `false`.
  public init(booleanLiteral value: Bool) { self = .bool(value) }

  /// Makes a whole number.
  public init(integerLiteral value: Int64) { self = .integer(value) }

  /// Makes a number, which is ``integer(_:)`` when it has no fraction and fits, as when it is read.
  public init(floatLiteral value: Double) {
    self = Int64(exactly: value).map(Self.integer) ?? .number(value)
  }

  /// Makes an array.
  public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }

  /// Makes an object; of two members with one name the later one stays.
  public init(dictionaryLiteral members: (String, JSONValue)...) {
    self = .object(Dictionary(members) { _, later in later })
  }
}
