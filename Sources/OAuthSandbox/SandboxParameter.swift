public import SQBasics

/// A decoded parameter of a query, a form or a header: its name and its value.
public struct SandboxParameter: Sendable, Hashable {
  /// The parameter's name, decoded.
  public let name: String
  /// The parameter's value, decoded.
  public let value: String

  package init(name: String, value: String) {
    self.name = name
    self.value = value
  }
}

extension SandboxParameter: Redacted {
  /// Only the name, because the value may be a secret.
  public var description: String { name }
}

extension [SandboxParameter] {
  /// Returns the value of the parameter with this name, or `nil` if it is missing or repeated.
  func value(_ name: String) -> String? {
    let found = filter { $0.name == name }
    return found.count == 1 ? found[0].value : nil
  }

  /// Whether a name occurs more than once, which RFC 6749, section 3.1, forbids.
  var hasDuplicates: Bool { Set(map(\.name)).count != count }
}
