/// A reason why a text could not be parsed as JSON.
package enum JSONFailure: Error, Equatable {
  /// The text is not JSON; the value is a position at or near the first wrong byte.
  case malformed(at: Int)
  /// The text begins like UTF-16, or like another encoding with zero bytes.
  case utf16
  case tooLong
  case tooDeep
  case tooManyValues
  /// A string has more than 30 combining marks in a row.
  case tooManyMarks
  /// An object has two members with this name.
  case doubleName(String)
  /// The parsing task was cancelled.
  case cancelled
  /// Two members with this name, which ``JSONRules/decisive`` contains, have different values.
  case ambiguous(String)

  /// Returns a message about the text called `name`, without any part of its content.
  package func description(of name: String) -> String {
    switch self {
    case .malformed(let place): "the \(name) is no JSON: check byte \(place)"
    case .utf16: "the \(name) is in UTF-16 or a similar encoding, and JSON must be UTF-8"
    case .tooLong: "the \(name) is too long"
    case .tooDeep, .tooManyValues:
      "the JSON of the \(name) is nested too deeply or has too many values"
    case .tooManyMarks: "the \(name) has a text with more than 30 combining marks in a row"
    case .cancelled: "the reading of the \(name) was cancelled"
    case .doubleName: "the \(name) has two members with the same name"
    case .ambiguous(let member):
      "the \(name) has \"\(member)\" twice, with different values"
    }
  }
}
