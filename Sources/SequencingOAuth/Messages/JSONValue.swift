/// Any JSON value, such as a field of a response that the SDK does not interpret.
///
/// Its subscripts and accessors never trap, whatever a server has sent, and you can write a value
/// as a literal:
///
/// ```swift
/// let title = json["items"][0]["title"].string ?? "untitled"
/// let file: JSONValue = ["title": "Holiday", "tags": ["sea", 2026]]
/// ```
///
/// A number is ``integer(_:)`` if it has no fraction and fits, and otherwise ``number(_:)``.
public enum JSONValue: Sendable, Hashable {
  /// The JSON value `null`.
  case null
  /// The JSON value `true` or `false`.
  case bool(Bool)
  /// A whole number that fits an `Int64`.
  case integer(Int64)
  /// A number with a fraction, or one that does not fit an `Int64`.
  case number(Double)
  /// A JSON string.
  case string(String)
  /// A JSON array with its elements in order.
  case array([JSONValue])
  /// A JSON object with its members by their names.
  case object([String: JSONValue])
}

extension JSONValue: Codable {
  /// Reads any JSON value from a decoder.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    // The most frequent types of the protocol's messages come first: a type that does not fit costs
    // much.
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

  /// Writes the value as it was read.
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
