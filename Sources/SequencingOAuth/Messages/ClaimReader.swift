import SQBasics

#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  import Foundation
#endif

/// Reads claims by type; an error names the claim and never shows its value.
///
/// A claim that is `null` is missing: many servers write their model as it is, with `null` for each
/// member that they do not use.
package struct ClaimReader {
  package let claims: [String: JSONValue]
  /// What has the claims, for messages, such as `ID token`.
  package let subject: String
  /// The code of the error for a missing claim.
  package let missing: SQOAuthError.Code
  /// The code of the error for a claim of a wrong type.
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

  /// A claim that must be there.
  package func required<Value>(
    _ name: String, _ read: (String) throws(SQOAuthError) -> Value?
  ) throws(SQOAuthError) -> Value {
    guard let value = try read(name) else {
      throw SQOAuthError(missing, "the \(subject) has no \"\(name)\"")
    }
    return value
  }

  /// A text that is not empty; `nil` if the claim is missing.
  package func text(_ name: String) throws(SQOAuthError) -> String? {
    guard let claim = claim(name) else { return nil }
    guard let text = claim.string else { throw wrongType(name, claim, "a text") }
    guard !text.isEmpty else { throw fault(name, "is empty") }
    return text
  }

  /// A text that may be missing or empty, as servers write it that have no value for it.
  package func possibleText(_ name: String) throws(SQOAuthError) -> String? {
    claim(name) == "" ? nil : try text(name)
  }

  /// Reads a claim that nothing depends on; `nil` if it is missing or cannot be read.
  ///
  /// A mistake in such a claim must cost no user the sign-in.
  package func ifReadable<Value>(_ name: String, _ read: (String) throws(SQOAuthError) -> Value?)
    -> Value?
  {
    do throws(SQOAuthError) { return try read(name) } catch { return nil }
  }

  /// A list of texts; `nil` if the claim is missing.
  func texts(_ name: String) throws(SQOAuthError) -> [String]? {
    guard let claim = claim(name) else { return nil }
    guard let array = claim.array else { throw wrongType(name, claim, "a list of texts") }
    return try array.map { element throws(SQOAuthError) in
      guard let text = element.string else {
        throw fault(name, "has \(element.kind) in its list, and not texts alone")
      }
      return text
    }
  }

  /// An audience: one text, or a list of texts that is not empty.
  package func audience(_ name: String) throws(SQOAuthError) -> [String]? {
    guard let audience = try possibleAudience(name) else { return nil }
    guard !audience.isEmpty else { throw fault(name, "is empty") }
    return audience
  }

  /// An audience whose list or text may be empty, as servers write it for a token without one.
  package func possibleAudience(_ name: String) throws(SQOAuthError) -> [String]? {
    guard claim(name) != "" else { return [] }
    if claim(name)?.string != nil { return try text(name).map { [$0] } }
    guard let texts = try texts(name) else { return nil }
    guard !texts.contains("") else { throw fault(name, "has an empty text") }
    return texts
  }

  /// A moment, written as the seconds since 1970; `nil` if the claim is missing.
  package func date(_ name: String) throws(SQOAuthError) -> Date? {
    guard let claim = claim(name) else { return nil }
    // A number beyond the year 9999 is no time, but for example milliseconds.
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
