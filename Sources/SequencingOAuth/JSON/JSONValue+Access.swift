// If a value is missing, of another kind or out of range, the result is `nil`. So a chain such as
// `json["items"][0]["title"].string` never traps, even if a server sends something unexpected.
extension JSONValue {
  /// The object's member with this name; `nil` if the value is not an object or lacks the member.
  ///
  /// A member that is `null` does exist: its value is ``null``, not `nil`.
  public subscript(name: String) -> JSONValue? { object?[name] }

  /// The array's element at this index; `nil` if the value is not an array or has no such element.
  ///
  /// The first element has the index 0. Any index is allowed, even a negative one.
  public subscript(index: Int) -> JSONValue? {
    guard let array, array.indices.contains(index) else { return nil }
    return array[index]
  }

  /// The text of a string, or `nil` if the value is not a string.
  public var string: String? {
    if case .string(let value) = self { value } else { nil }
  }

  /// The Boolean value, or `nil` if the value is neither `true` nor `false`.
  public var bool: Bool? {
    if case .bool(let value) = self { value } else { nil }
  }

  /// The whole number; `nil` if the value is not a number, has a fraction or does not fit an `Int`.
  public var integer: Int? {
    switch self {
    case .integer(let value): Int(exactly: value)
    case .number(let value): Int(exactly: value)
    default: nil
    }
  }

  /// The number as a `Double`, or `nil` if the value is not a number.
  ///
  /// A whole number beyond 2^53 is rounded to the nearest number that a `Double` can represent.
  public var number: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .number(let value): value
    default: nil
    }
  }

  /// The elements of an array, or `nil` if the value is not an array.
  public var array: [JSONValue]? {
    if case .array(let elements) = self { elements } else { nil }
  }

  /// The members of an object by name, or `nil` if the value is not an object.
  public var object: [String: JSONValue]? {
    if case .object(let members) = self { members } else { nil }
  }
}

/// Subscripts and properties that chain without question marks.
///
/// If any part of the chain is missing, the result is `nil`.
extension JSONValue? {
  /// The object's member with this name, or `nil` if there is no object or no such member.
  public subscript(name: String) -> JSONValue? { self?[name] }

  /// The array's element at this index, or `nil` if there is no array or no such element.
  public subscript(index: Int) -> JSONValue? { self?[index] }

  /// The text of a string, or `nil` if there is no string.
  public var string: String? { self?.string }

  /// The Boolean value, or `nil` if there is neither `true` nor `false`.
  public var bool: Bool? { self?.bool }

  /// The whole number, or `nil` if there is none or it does not fit an `Int`.
  public var integer: Int? { self?.integer }

  /// The number as a `Double`, or `nil` if there is no number.
  public var number: Double? { self?.number }

  /// The elements of an array, or `nil` if there is no array.
  public var array: [JSONValue]? { self?.array }

  /// The members of an object by name, or `nil` if there is no object.
  public var object: [String: JSONValue]? { self?.object }
}
