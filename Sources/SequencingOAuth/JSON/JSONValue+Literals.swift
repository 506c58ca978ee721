/// JSON values as Swift literals: `["title": "Holiday", "tags": ["sea", 2026], "owner": .null]`.
///
/// `nil` is not such a literal, because it means that a value is missing. Write ``null`` for JSON's
/// `null`.
extension JSONValue: ExpressibleByStringInterpolation, ExpressibleByBooleanLiteral,
  ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByArrayLiteral,
  ExpressibleByDictionaryLiteral
{
  /// Creates a JSON string from a string literal.
  public init(stringLiteral value: String) { self = .string(value) }

  /// Creates the JSON value `true` or `false`.
  public init(booleanLiteral value: Bool) { self = .bool(value) }

  /// Creates a JSON number from a whole number.
  public init(integerLiteral value: Int64) { self = .integer(value) }

  /// Creates a JSON number: ``integer(_:)`` if it is whole and fits an `Int64`.
  public init(floatLiteral value: Double) {
    self = Int64(exactly: value).map(Self.integer) ?? .number(value)
  }

  /// Creates a JSON array of the values.
  public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }

  /// Creates a JSON object; if two members have the same name, the later one is used.
  public init(dictionaryLiteral members: (String, JSONValue)...) {
    self = .object(Dictionary(members) { _, later in later })
  }
}
