/// JSON values as Swift literals: `["title": "Holiday", "tags": ["sea", 2026], "owner": .null]`.
///
/// `nil` is no such literal, since it means that a value is missing; write ``null`` for JSON's
/// `null`.
extension JSONValue: ExpressibleByStringInterpolation, ExpressibleByBooleanLiteral,
  ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByArrayLiteral,
  ExpressibleByDictionaryLiteral
{
  /// Makes a JSON string from a string literal.
  public init(stringLiteral value: String) { self = .string(value) }

  /// Makes the JSON value `true` or `false`.
  public init(booleanLiteral value: Bool) { self = .bool(value) }

  /// Makes a JSON number from a whole number.
  public init(integerLiteral value: Int64) { self = .integer(value) }

  /// Makes a JSON number; like a number that is read, it is ``integer(_:)`` if it is whole and
  /// fits.
  public init(floatLiteral value: Double) {
    self = Int64(exactly: value).map(Self.integer) ?? .number(value)
  }

  /// Makes a JSON array of the values.
  public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }

  /// Makes a JSON object; if two members have one name, the later one counts.
  public init(dictionaryLiteral members: (String, JSONValue)...) {
    self = .object(Dictionary(members) { _, later in later })
  }
}
