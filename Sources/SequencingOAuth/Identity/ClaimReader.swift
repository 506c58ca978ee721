#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Reads claims by type; an error names the claim and never shows its value.
struct ClaimReader {
  let claims: [String: JSONValue]
  /// What has the claims, for messages, such as `ID token`.
  let subject: String
  /// The code of the error for a missing claim.
  let missing: SQOAuthError.Code
  /// The code of the error for a claim of a wrong type.
  let malformed: SQOAuthError.Code

  /// A claim that must be there.
  func required<Value>(
    _ name: String, _ read: (String) throws(SQOAuthError) -> Value?
  ) throws(SQOAuthError) -> Value {
    guard let value = try read(name) else {
      throw SQOAuthError(missing, "the \(subject) has no \"\(name)\"")
    }
    return value
  }

  /// A text that is not empty; `nil` if the claim is missing.
  func text(_ name: String) throws(SQOAuthError) -> String? {
    guard let claim = claims[name] else { return nil }
    guard let text = claim.string, !text.isEmpty else { throw wrongType(name, "a text") }
    return text
  }

  /// A list of texts; `nil` if the claim is missing.
  func texts(_ name: String) throws(SQOAuthError) -> [String]? {
    guard let claim = claims[name] else { return nil }
    guard let array = claim.array else { throw wrongType(name, "a list of texts") }
    return try array.map { element throws(SQOAuthError) in
      guard let text = element.string else { throw wrongType(name, "a list of texts") }
      return text
    }
  }

  /// An audience: one text, or a list of texts that is not empty.
  func audience(_ name: String) throws(SQOAuthError) -> [String]? {
    if claims[name]?.string != nil { return try text(name).map { [$0] } }
    guard let texts = try texts(name) else { return nil }
    guard !texts.isEmpty, !texts.contains("") else { throw wrongType(name, "a list of texts") }
    return texts
  }

  /// A moment, written as the seconds since 1970; `nil` if the claim is missing.
  func date(_ name: String) throws(SQOAuthError) -> Date? {
    guard let claim = claims[name] else { return nil }
    // A number beyond the year 9999 is no time, but for example milliseconds.
    guard let seconds = claim.number, (0...253_402_300_799).contains(seconds) else {
      throw wrongType(name, "a time in seconds")
    }
    return Date(timeIntervalSince1970: seconds)
  }

  private func wrongType(_ name: String, _ expected: String) -> SQOAuthError {
    SQOAuthError(malformed, "the \"\(name)\" of the \(subject) is not \(expected)")
  }
}
