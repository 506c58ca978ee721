/// A JSON value that keeps the order of its members and can be invalid on purpose.
public enum SandboxJSON: Sendable, Hashable {
  /// A JSON string.
  case string(String)
  /// A whole number.
  case integer(Int)
  /// The JSON value `true` or `false`.
  case bool(Bool)
  /// The JSON value `null`.
  case null
  /// A JSON array.
  case array([SandboxJSON])
  /// A JSON object with its members in order; a name may occur twice.
  case object([Member])
  /// A text that is written unquoted and unescaped, such as `1e999`.
  case literal(String)

  /// One member of an object: its name and its value.
  public struct Member: Sendable, Hashable {
    /// The member's name.
    public var name: String
    /// The member's value.
    public var value: SandboxJSON

    /// Creates a member from a name and a value.
    public init(_ name: String, _ value: SandboxJSON) {
      self.name = name
      self.value = value
    }
  }

  /// Creates an array of strings.
  static func strings(_ texts: [String]) -> Self { .array(texts.map(Self.string)) }

  /// The value as JSON text.
  public var text: String {
    switch self {
    case .string(let string): Self.quoted(string)
    case .integer(let integer): String(integer)
    case .bool(let bool): bool ? "true" : "false"
    case .null: "null"
    case .array(let values): "[" + values.map(\.text).joined(separator: ",") + "]"
    case .object(let members):
      "{" + members.map { Self.quoted($0.name) + ":" + $0.value.text }.joined(separator: ",") + "}"
    case .literal(let text): text
    }
  }

  /// The value of an object's member; setting it to `nil` removes the member.
  ///
  /// For any value other than an object, it is `nil`, and setting it has no effect.
  public subscript(_ name: String) -> SandboxJSON? {
    get {
      guard case .object(let members) = self else { return nil }
      return members.first { $0.name == name }?.value
    }
    set { self = setting(name, to: newValue) }
  }

  /// Returns this object with a member set or, if `value` is `nil`, removed.
  ///
  /// Any other kind of value is returned unchanged.
  func setting(_ name: String, to value: SandboxJSON?) -> SandboxJSON {
    guard case .object(var members) = self else { return self }
    let index = members.firstIndex { $0.name == name }
    members.removeAll { $0.name == name }
    if let value {
      members.insert(Member(name, value), at: min(index ?? members.endIndex, members.endIndex))
    }
    return .object(members)
  }

  private static func quoted(_ string: String) -> String {
    var text = "\""
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case _ where scalar.value < 0x20:
        let digits = String(scalar.value, radix: 16)
        text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text + "\""
  }
}

extension SandboxJSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  /// Creates a JSON string from a string literal.
  public init(stringLiteral value: String) { self = .string(value) }
  /// Creates a JSON number from an integer literal.
  public init(integerLiteral value: Int) { self = .integer(value) }
  /// Creates the JSON value `true` or `false` from a Boolean literal.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// Creates a JSON array from an array literal.
  public init(arrayLiteral elements: SandboxJSON...) { self = .array(elements) }
  /// Creates a JSON object with its members in the order of the literal.
  public init(dictionaryLiteral elements: (String, SandboxJSON)...) {
    self = .object(elements.map { Member($0.0, $0.1) })
  }
}
