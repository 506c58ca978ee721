// A value that is absent, of another kind or out of range is `nil`, so a chain such as
// `json["items"][0]["title"].string` never traps, whatever a server sends.
extension JSONValue {
  /// A member of an object, or `nil` when the value is no object or has no member of that name.
  ///
  /// A member that is `null` is there: it is ``null`` and not `nil`.
  public subscript(name: String) -> JSONValue? { object?[name] }

  /// An element of an array, or `nil` when the value is no array or has no element at that index.
  ///
  /// The first element has the index 0. Any other number, negative ones too, may be asked for.
  public subscript(index: Int) -> JSONValue? {
    guard let array, array.indices.contains(index) else { return nil }
    return array[index]
  }

  /// The text, or `nil` when the value is no string.
  public var string: String? {
    if case .string(let value) = self { value } else { nil }
  }

  /// The truth value, or `nil` when the value is neither `true` nor `false`.
  public var bool: Bool? {
    if case .bool(let value) = self { value } else { nil }
  }

  /// The whole number, or `nil` when the value is no number, has a fraction or does not fit.
  public var integer: Int? {
    switch self {
    case .integer(let value): Int(exactly: value)
    case .number(let value): Int(exactly: value)
    default: nil
    }
  }

  /// The number, whole or not, or `nil` when the value is no number.
  ///
  /// A whole number beyond 2^53 is rounded to the nearest one that a `Double` can hold.
  public var number: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .number(let value): value
    default: nil
    }
  }

  /// The elements, or `nil` when the value is no array.
  public var array: [JSONValue]? {
    if case .array(let elements) = self { elements } else { nil }
  }

  /// The members by their names, or `nil` when the value is no object.
  public var object: [String: JSONValue]? {
    if case .object(let members) = self { members } else { nil }
  }
}

/// Chains of subscripts and accessors that need no question marks: a missing link makes them `nil`.
extension JSONValue? {
  /// A member of an object, or `nil` when there is no such object or no such member.
  public subscript(name: String) -> JSONValue? { self?[name] }

  /// An element of an array, or `nil` when there is no such array or no such element.
  public subscript(index: Int) -> JSONValue? { self?[index] }

  /// The text, or `nil` when there is no string here.
  public var string: String? { self?.string }

  /// The truth value, or `nil` when neither `true` nor `false` is here.
  public var bool: Bool? { self?.bool }

  /// The whole number, or `nil` when none that fits is here.
  public var integer: Int? { self?.integer }

  /// The number, whole or not, or `nil` when there is no number here.
  public var number: Double? { self?.number }

  /// The elements, or `nil` when there is no array here.
  public var array: [JSONValue]? { self?.array }

  /// The members by their names, or `nil` when there is no object here.
  public var object: [String: JSONValue]? { self?.object }
}
