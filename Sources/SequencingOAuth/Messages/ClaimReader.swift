import SQBasics
package import SQFoundation

/// A reader of claims by type; its errors name the claim but never show its value.
///
/// A claim that is `null` counts as missing: many servers write `null` for each unused member of
/// their model.
package struct ClaimReader {
  package let claims: [String: JSONValue]
  /// The name of the object with the claims, for messages, such as `ID token`.
  package let subject: String
  /// The code of the error for a missing claim.
  package let missing: SQOAuthError.Code
  /// The code of the error for a claim with a wrong type.
  package let malformed: SQOAuthError.Code

  package init(
    claims: [String: JSONValue], subject: String, missing: SQOAuthError.Code,
    malformed: SQOAuthError.Code
  ) {
    self.claims = claims
    self.subject = subject
    self.missing = missing
    self.malformed = malformed
  }

  /// Reads a claim that must not be missing.
  package func required<Value>(
    _ name: String, _ read: (String) throws(SQOAuthError) -> Value?
  ) throws(SQOAuthError) -> Value {
    guard let value = try read(name) else {
      throw SQOAuthError(missing, "the \(subject) has no \"\(name)\"")
    }
    return value
  }

  /// Reads a text that must not be empty; returns `nil` if the claim is missing.
  package func text(_ name: String) throws(SQOAuthError) -> String? {
    guard let claim = claim(name) else { return nil }
    guard let text = claim.string else { throw wrongType(name, claim, "a text") }
    guard !text.isEmpty else { throw fault(name, "is empty") }
    return text
  }

  /// Reads a text; an empty text counts as missing, because some servers send it for a missing
  /// value.
  package func possibleText(_ name: String) throws(SQOAuthError) -> String? {
    claim(name) == "" ? nil : try text(name)
  }

  /// Reads an unimportant claim; returns `nil` if it is missing or cannot be read.
  ///
  /// A mistake in such a claim must not make the user's sign-in fail.
  package func ifReadable<Value>(_ name: String, _ read: (String) throws(SQOAuthError) -> Value?)
    -> Value?
  {
    do throws(SQOAuthError) { return try read(name) } catch { return nil }
  }

  /// Reads a list of texts; returns `nil` if the claim is missing.
  func texts(_ name: String) throws(SQOAuthError) -> [String]? {
    guard let claim = claim(name) else { return nil }
    guard let array = claim.array else { throw wrongType(name, claim, "a list of texts") }
    return try array.map { element throws(SQOAuthError) in
      guard let text = element.string else {
        throw fault(name, "has \(element.kind) in its list, but only texts are allowed")
      }
      return text
    }
  }

  /// Reads an audience: a text, or a list of texts; neither the list nor a text may be empty.
  package func audience(_ name: String) throws(SQOAuthError) -> [String]? {
    guard let audience = try possibleAudience(name) else { return nil }
    guard !audience.isEmpty else { throw fault(name, "is empty") }
    return audience
  }

  /// Reads an audience; returns an empty list for an empty text or list, which some servers send.
  package func possibleAudience(_ name: String) throws(SQOAuthError) -> [String]? {
    guard claim(name) != "" else { return [] }
    if claim(name)?.string != nil { return try text(name).map { [$0] } }
    guard let texts = try texts(name) else { return nil }
    guard !texts.contains("") else { throw fault(name, "has an empty text") }
    return texts
  }

  /// Reads a time, written as the seconds since 1970; returns `nil` if the claim is missing.
  package func date(_ name: String) throws(SQOAuthError) -> Date? {
    guard let claim = claim(name) else { return nil }
    // A number beyond the year 9999 is not a time in seconds, but perhaps in milliseconds.
    guard let seconds = claim.number else { throw wrongType(name, claim, "a time in seconds") }
    guard (0...253_402_300_799).contains(seconds) else {
      throw fault(name, "is not a time in seconds")
    }
    return Date(timeIntervalSince1970: seconds)
  }

  private func claim(_ name: String) -> JSONValue? {
    claims[name].flatMap { $0 == .null ? nil : $0 }
  }

  private func wrongType(
    _ name: String, _ claim: JSONValue, _ expected: String
  ) -> SQOAuthError {
    fault(name, "is \(claim.kind) and not \(expected)")
  }

  private func fault(_ name: String, _ fault: String) -> SQOAuthError {
    SQOAuthError(malformed, "the \"\(name)\" of the \(subject) \(fault)")
  }
}
