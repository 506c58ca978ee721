import SQBasics

/// A parser of `expires_in`: most servers send a number, some a string of digits.
///
/// - SeeAlso: RFC 6749, section 5.1
enum TokenLifetime {
  /// The maximum, 2^31 − 1 seconds or 68 years: a longer lifetime has no use, and its end overflows
  /// in other programs.
  static let maximum = 2_147_483_647.0

  /// Returns the lifetime in whole seconds; `nil` if the server sent none.
  static func seconds(_ value: JSONValue?) throws(SQOAuthError) -> Double? {
    let seconds: Double? =
      switch value {
      case nil, .null?: nil
      case .integer(let seconds)?: Double(seconds)
      case .number(let seconds)?: seconds
      case .string(let text)?: try digits(text)
      default: throw unusable
      }
    guard let seconds else { return nil }
    guard seconds.isFinite, seconds >= 0 else { throw unusable }
    return min(seconds.rounded(.down), maximum)
  }

  private static func digits(_ text: String) throws(SQOAuthError) -> Double {
    guard !text.isEmpty, text.utf8.allSatisfy(\.isDigit),
      let seconds = Double(text)
    else { throw unusable }
    return seconds
  }

  private static var unusable: SQOAuthError {
    SQOAuthError(
      .invalidResponse, "the token response has an \"expires_in\" that is no usable number")
  }
}
