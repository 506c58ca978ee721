public import SequencingOAuth

extension UserInfo {
  /// Makes claims about a user for a test, as if a provider's UserInfo endpoint had sent them.
  ///
  /// ```swift
  /// show(.fake("alice", claims: ["name": "Alice Liddell", "email_verified": true]))
  /// ```
  ///
  /// The claim `sub` is always `subject`.
  ///
  /// - SeeAlso: OpenID Connect Core 1.0, section 5.3
  public static func fake(
    _ subject: String = "alice", claims: [String: JSONValue] = [:]
  ) -> UserInfo {
    UserInfo(
      unverified: claims.merging(["sub": .string(subject)]) { _, subject in subject },
      subject: subject)
  }
}
