/// Why a text was not read as JSON.
enum JSONFailure: Error, Equatable {
  /// It is no JSON; the place is the first byte that does not fit.
  case malformed(at: Int)
  case tooLong
  case tooDeep
  case tooManyValues
  case doubleName

  /// What is wrong with a text, for a message; it quotes nothing.
  func description(of name: String) -> String {
    switch self {
    case .malformed(let place): "the \(name) is no JSON: check byte \(place)"
    case .tooLong: "the \(name) is too long"
    case .tooDeep, .tooManyValues:
      "the JSON of the \(name) is nested too deep or has too many values"
    case .doubleName: "the \(name) has two members of one name"
    }
  }
}
