/// The resource owner password credentials grant, for servers that offer nothing better.
///
/// The app sees the user's password, so RFC 9700, section 2.4, says not to use this grant.
/// ``ClientConfiguration/allowsPasswordGrant`` must be set.
///
/// - SeeAlso: RFC 6749, section 4.3
struct PasswordGrant: Sendable {
  let client: RegisteredClient
  /// The token requests under way; a cancelled caller's tokens are revoked.
  let tokenRequests: TokenRequests

  func run(
    username: String, password: String, scope: String?
  ) async throws(SQOAuthError) -> SQToken {
    guard client.configuration.allowsPasswordGrant else {
      throw SQOAuthError(
        .invalidConfiguration,
        "the password grant shows the user's password to the app; set allowsPasswordGrant if the "
          + "server offers no other way")
    }
    var parameters: [FormCoding.Pair] = [
      .init("grant_type", "password"), .init("username", username), .init("password", password),
    ]
    if let scope { parameters.append(.init("scope", scope)) }
    return try await client.token(ofUserBy: parameters, scope: scope, tokenRequests)
  }
}
