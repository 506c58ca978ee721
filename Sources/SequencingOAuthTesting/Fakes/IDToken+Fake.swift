public import SQFoundation
public import SequencingOAuth

extension IDToken {
  /// Makes an ID token for a test, with an empty signature.
  ///
  /// ```swift
  /// greet(try .fake("alice", claims: ["name": "Alice Liddell"]))
  /// ```
  ///
  /// The ID token was not validated. No server accepts its `compactForm`, because it names the
  /// algorithm `none`. A negative `lifetime` makes an expired ID token. `claims` replaces claims
  /// from the other arguments; the value `JSONValue.null` removes a claim.
  ///
  /// - Throws: `SQOAuthError.Code.idTokenIncomplete` or `SQOAuthError.Code.idTokenMalformed` if no
  ///   ID token can have such claims, for example a `sub` that is a number.
  /// - SeeAlso: OpenID Connect Core 1.0, section 2
  public static func fake(
    _ subject: String = "alice", issuer: String = "https://id.example.com",
    audience: [String] = ["app"], claims: [String: JSONValue] = [:],
    issuedAt issueDate: Date = Date(), lifetime: Duration = .seconds(3600)
  ) throws(SQOAuthError) -> IDToken {
    let all = FakeClaims.timed(
      from: issueDate, for: lifetime,
      [
        "iss": .string(issuer), "sub": .string(subject),
        "aud": .array(audience.map(JSONValue.string)),
      ], replacedBy: claims)
    return try IDToken(unverified: all, compactForm: FakeClaims.unsigned(all))
  }
}
