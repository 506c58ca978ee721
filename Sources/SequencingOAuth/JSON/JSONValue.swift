/// Any JSON value, such as a field of a response that the SDK does not interpret.
///
/// Its subscripts and properties never trap, even if a server sends something unexpected. You can
/// write a value as a literal:
///
/// ```swift
/// let title = json["items"][0]["title"].string ?? "untitled"
/// let file: JSONValue = ["title": "Holiday", "tags": ["sea", 2026]]
/// ```
///
/// A number is ``integer(_:)`` if it has no fraction and fits an `Int64`, and otherwise
/// ``number(_:)``.
public enum JSONValue: Sendable, Hashable {
  /// The JSON value `null`.
  case null
  /// The JSON value `true` or `false`.
  case bool(Bool)
  /// A whole number that fits an `Int64`.
  case integer(Int64)
  /// A number with a fraction, or one too large for an `Int64`.
  case number(Double)
  /// A JSON string.
  case string(String)
  /// A JSON array, with its elements in order.
  case array([JSONValue])
  /// A JSON object, with its members by name.
  case object([String: JSONValue])
}

extension JSONValue: Codable {
  /// Decodes any JSON value.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    // The most frequent types in the protocol's messages come first, because an attempt with the
    // wrong type is expensive.
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(String.self) {
      self = .string(value)
    } else if let value = try? container.decode(Int64.self) {
      self = .integer(value)
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Double.self) {
      self = .number(value)
    } else if let value = try? container.decode([JSONValue].self) {
      self = .array(value)
    } else {
      self = .object(try container.decode([String: JSONValue].self))
    }
  }

  /// Encodes the value as plain JSON.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .integer(let value): try container.encode(value)
    case .number(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    case .array(let value): try container.encode(value)
    case .object(let value): try container.encode(value)
    }
  }
}
