/// A JSON value that keeps the order of its members, and can be told to be wrong.
public enum SandboxJSON: Sendable, Hashable {
  /// Text.
  case string(String)
  /// A whole number.
  case integer(Int)
  /// `true` or `false`.
  case bool(Bool)
  /// `null`.
  case null
  /// Values in order.
  case array([SandboxJSON])
  /// Members in order; a name may come twice.
  case object([Member])
  /// Text that is written as it stands, such as `1e999`.
  case literal(String)

  /// A name and its value.
  public struct Member: Sendable, Hashable {
    /// The name.
    public var name: String
    /// The value.
    public var value: SandboxJSON

    /// Makes a member.
    public init(_ name: String, _ value: SandboxJSON) {
      self.name = name
      self.value = value
    }
  }

  /// The text that is sent.
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

  /// The same object with a member set, or removed; any other value stays as it is.
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
  /// Makes text.
  public init(stringLiteral value: String) { self = .string(value) }
  /// Makes a whole number.
  public init(integerLiteral value: Int) { self = .integer(value) }
  /// Makes `true` or `false`.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// Makes an array.
  public init(arrayLiteral elements: SandboxJSON...) { self = .array(elements) }
  /// Makes an object with its members in the order of the literal.
  public init(dictionaryLiteral elements: (String, SandboxJSON)...) {
    self = .object(elements.map { Member($0.0, $0.1) })
  }
}
