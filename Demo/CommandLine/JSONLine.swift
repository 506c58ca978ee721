import SQFoundation
import SequencingOAuth

/// Encodes a value as one line of JSON, with its members sorted by name in snake case.
func oneLineOfJSON(_ value: some Encodable) throws(Failure) -> String {
  let encoder = JSONEncoder()
  encoder.keyEncodingStrategy = .convertToSnakeCase
  return try encoder.oneLine(value)
}

/// Encodes a JSON value as one line, with its members sorted by name and all names unchanged.
func oneLineOfJSON(_ value: JSONValue) throws(Failure) -> String {
  try JSONEncoder().oneLine(value)
}

extension JSONEncoder {
  fileprivate func oneLine(_ value: some Encodable) throws(Failure) -> String {
    outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      return String(decoding: try encode(value), as: UTF8.self).escapedForTerminals
    } catch {
      throw Failure("output_failed", "the result cannot be written as JSON", status: .notAuthorized)
    }
  }
}

extension String {
  /// The JSON with escapes for all characters that could control a terminal.
  ///
  /// JSON allows unescaped control characters from U+007F on, and unescaped characters that change
  /// the direction of text. They occur only in strings, and there an escape has the same meaning.
  fileprivate var escapedForTerminals: String {
    guard unicodeScalars.contains(where: \.commandsTerminals) else { return self }
    var text = ""
    for scalar in unicodeScalars {
      guard scalar.commandsTerminals else {
        text.unicodeScalars.append(scalar)
        continue
      }
      for unit in UTF16.encode(scalar) ?? .init() {
        let digits = String(unit, radix: 16)
        text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      }
    }
    return text
  }
}
