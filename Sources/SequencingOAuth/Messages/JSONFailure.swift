/// Why a text was not read as JSON.
package enum JSONFailure: Error, Equatable {
  /// It is no JSON; the place is the first byte that does not fit.
  case malformed(at: Int)
  /// It is JSON in UTF-16, or something else that is no UTF-8.
  case utf16
  case tooLong
  case tooDeep
  case tooManyValues
  case doubleName
  /// The task that reads it was cancelled.
  case cancelled
  /// The member with this name, on which much depends, comes twice with different values.
  case ambiguous(String)

  /// What is wrong with a text, for a message; it quotes nothing.
  package func description(of name: String) -> String {
    switch self {
    case .malformed(let place): "the \(name) is no JSON: check byte \(place)"
    case .utf16: "the \(name) is UTF-16, and JSON must be UTF-8"
    case .tooLong: "the \(name) is too long"
    case .tooDeep, .tooManyValues:
      "the JSON of the \(name) is nested too deep or has too many values"
    case .cancelled: "the reading of the \(name) was cancelled"
    case .doubleName: "the \(name) has two members of one name"
    case .ambiguous(let member):
      "the \(name) has \"\(member)\" twice, with different values"
    }
  }
}
