/// The JWT bearer grant: a token for an assertion that the client signs.
///
/// - SeeAlso: RFC 7523, section 2.1; RFC 7521, section 4.1
struct JWTBearerGrant: Sendable {
  let client: RegisteredClient
  /// The token requests of cancelled callers; their tokens are revoked.
  let abandoned: AbandonedTokens

  func run(_ assertion: JWTAssertion, scope: String?) async throws(SQOAuthError) -> SQToken {
    var parameters: [FormCoding.Pair] = [.init("grant_type", JWTAssertion.grantType)]
    if let scope { parameters.append(.init("scope", scope)) }
    // The assertion names the client (RFC 7521, section 4.1).
    return try await client.token(
      ofUserBy: parameters, scope: scope, abandoned, isAnonymous: true, asserting: assertion)
  }
}
