import SQBasics
import SQFoundation

/// A reader of single members of a JSON object that is too large, or that ``JSONReader`` refuses.
///
/// It is only for values that must not be lost, such as a new refresh token. It never makes the SDK
/// accept the message itself.
struct OuterMembers {
  private let bytes: UnsafeRawBufferPointer
  private let names: Set<String>
  private var found: [String: JSONValue] = [:]

  /// Returns the values of the named members of the outermost object.
  ///
  /// A value that is an array or an object, or that cannot be read, is an empty array in the
  /// result. The result is `nil` if the text is not a complete object, or if a named member occurs
  /// twice with different values.
  static func values(of names: Set<String>, in text: Data) -> [String: JSONValue]? {
    text.withUnsafeBytes { bytes in
      var reader = OuterMembers(bytes: bytes, names: names)
      return JSONMembers.scan(bytes) { reader.keeps($1, as: $0) } ? reader.found : nil
    }
  }

  private init(bytes: UnsafeRawBufferPointer, names: Set<String>) {
    self.bytes = bytes
    self.names = names
  }

  /// Keeps the value of a named member; returns `false` if the name cannot be read, or if the
  /// member had another value before.
  private mutating func keeps(_ value: Range<Int>, as name: Range<Int>) -> Bool {
    let plain = bytes[name].dropFirst().dropLast()
    let hasEscape = plain.contains(UInt8(ascii: "\\"))
    guard hasEscape || names.contains(where: { $0.utf8.elementsEqual(plain) }) else { return true }
    guard case .string(let text)? = decoded(name) else { return false }
    guard names.contains(text) else { return true }
    let content = decoded(value) ?? .array([])
    return found.updateValue(content, forKey: text).map { $0 == content } ?? true
  }

  /// Decodes a string, a number, `true`, `false` or `null`; returns `nil` for any other value.
  private func decoded(_ range: Range<Int>) -> JSONValue? {
    guard ![UInt8(ascii: "{"), UInt8(ascii: "[")].contains(bytes[range.lowerBound]) else {
      return nil
    }
    return try? JSONReader.value(of: Data(bytes[range]), .signed)
  }
}
