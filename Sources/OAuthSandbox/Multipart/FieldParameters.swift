import SQBasics

/// A field value with parameters, `value; name=token; name="quoted"` (RFC 9110, section 5.6.6).
struct FieldParameters: Redacted {
  /// The part before the first parameter, in lower case.
  let value: String
  /// The parameters in order, with their names in lower case.
  let parameters: [(name: String, value: String)]

  /// Reads a field value, and returns `nil` if it is malformed or a parameter occurs twice.
  init?(_ text: String) {
    var rest = Array(text.utf8)[...]
    value = Self.text(rest.prefix { $0 != UInt8(ascii: ";") })[...].trimmed.lowercased()
    rest = rest.drop { $0 != UInt8(ascii: ";") }
    var parameters: [(name: String, value: String)] = []
    while !rest.isEmpty {
      guard rest.removeFirst() == UInt8(ascii: ";") else { return nil }
      rest = rest.drop(while: \.isBlank)
      let name = Self.text(rest.prefix(while: Self.isToken)).lowercased()
      rest = rest.dropFirst(name.utf8.count)
      guard !name.isEmpty, rest.popFirst() == UInt8(ascii: "="), let value = Self.value(&rest),
        !parameters.contains(where: { $0.name == name })
      else { return nil }
      parameters.append((name, value))
      rest = rest.drop(while: \.isBlank)
    }
    self.parameters = parameters
  }

  subscript(name: String) -> String? { parameters.first { $0.name == name }?.value }

  private static func value(_ rest: inout ArraySlice<UInt8>) -> String? {
    guard rest.first == UInt8(ascii: "\"") else {
      let token = rest.prefix(while: isToken)
      rest = rest.dropFirst(token.count)
      return token.isEmpty ? nil : text(token)
    }
    rest.removeFirst()
    var bytes: [UInt8] = []
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "\""): return text(bytes[...])
      case UInt8(ascii: "\\"):
        // Browsers do not escape a backslash in a file name, so a backslash counts as an escape
        // only before a quote or another backslash.
        let isPair = rest.first == UInt8(ascii: "\"") || rest.first == UInt8(ascii: "\\")
        bytes.append(isPair ? rest.removeFirst() : byte)
      default: bytes.append(byte)
      }
    }
    return nil
  }

  private static func text(_ bytes: ArraySlice<UInt8>) -> String {
    String(decoding: bytes, as: UTF8.self)
  }

  private static func isToken(_ byte: UInt8) -> Bool {
    byte.isAlphanumeric || "!#$%&'*+-.^_`|~".utf8.contains(byte)
  }
}
