import SQBasics

/// The assertion of a JWT bearer grant.
enum GrantAssertion: Sendable {
  /// An assertion that the client signs with its key.
  case signed(JWTAssertion)
  /// An assertion that another party signs and a source provides.
  ///
  /// It must name the `user`, if that is known; otherwise `user` gets the user whom it names.
  case brought(AssertionSource, user: OneShot<String>)

  /// Whether the client signs the assertion.
  ///
  /// Such an assertion names the client, so the request can omit `client_id` (RFC 7521, section
  /// 4.1).
  var isSigned: Bool {
    if case .signed = self { true } else { false }
  }
}

/// The JWT bearer grant: a token for an assertion that the client or its platform signs.
///
/// - SeeAlso: RFC 7523, section 2.1; RFC 7521, section 4.1
struct JWTBearerGrant: Sendable {
  let client: RegisteredClient
  /// The token requests under way; a cancelled caller's tokens are revoked.
  let tokenRequests: TokenRequests

  func run(_ assertion: JWTAssertion, scope: String?) async throws(SQOAuthError) -> SQToken {
    try await token(for: .signed(assertion), scope: scope)
  }

  /// Gets a token for an assertion from the configuration's source.
  ///
  /// The request names the client, because the assertion might not. A refresh token in the response
  /// is not used, because the party that signs the assertions decides about each new token.
  ///
  /// The assertion must name the `user`, if that is known; otherwise `user` gets the user whom it
  /// names.
  func runWithSource(
    scope: String?, user: OneShot<String>
  ) async throws(SQOAuthError) -> SQToken {
    guard let source = client.configuration.grantAssertionSource else {
      throw SQOAuthError(
        .invalidConfiguration,
        "a token for an assertion needs the source of the assertions; set the configuration's "
          + "grantAssertionSource")
    }
    return try await token(for: .brought(source, user: user), scope: scope)
      .keeping(refreshToken: nil)
  }

  private func token(
    for assertion: GrantAssertion, scope: String?
  ) async throws(SQOAuthError) -> SQToken {
    var parameters: [FormCoding.Pair] = [.init("grant_type", JWTAssertion.grantType)]
    if let scope { parameters.append(.init("scope", scope)) }
    return try await client.token(
      ofUserBy: parameters, scope: scope, tokenRequests, isAnonymous: assertion.isSigned,
      asserting: assertion)
  }
}
