public import SQFoundation
public import SequencingOAuth
public import SequencingOAuthBackend

extension AccessTokenClaims {
  /// Makes the claims of an access token for a service's test.
  ///
  /// ```swift
  /// let orders = try orders(for: .fake("alice", scopes: ["orders.read"]))
  /// ```
  ///
  /// The `require` methods check these claims as they check the claims of a real token;
  /// `requireLogin` without a date goes by the system's clock. A negative `lifetime` makes the claims of an expired token, which no validator returns. `claims` replaces
  /// claims from the other arguments; the value `JSONValue.null` removes a claim. A `cnf` with the
  /// member `jkt` binds the token to a key.
  ///
  /// - Throws: `SQOAuthError.Code.accessTokenInvalid` if no access token can have such claims.
  /// - SeeAlso: RFC 9068, section 2.2
  public static func fake(
    _ subject: String = "alice", scopes: [String] = [], clientID: String = "app",
    issuer: String = "https://id.example.com", audience: [String] = ["https://api.example.com"],
    claims: [String: JSONValue] = [:], issuedAt issueDate: Date = Date(),
    lifetime: Duration = .seconds(3600)
  ) throws(SQOAuthError) -> AccessTokenClaims {
    try AccessTokenClaims(
      unverified: FakeClaims.timed(
        from: issueDate, for: lifetime,
        [
          "iss": .string(issuer), "sub": .string(subject), "client_id": .string(clientID),
          "aud": .array(audience.map(JSONValue.string)),
          "scope": .string(scopes.joined(separator: " ")), "jti": "fake",
        ], replacedBy: claims))
  }
}
