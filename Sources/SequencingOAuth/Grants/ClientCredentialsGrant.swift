import SQBasics

/// The client credentials grant: a token for a program that acts in its own name.
///
/// - SeeAlso: RFC 6749, section 4.4
struct ClientCredentialsGrant: Sendable {
  let client: RegisteredClient
  /// The token requests under way; a cancelled caller's tokens are revoked.
  let tokenRequests: TokenRequests

  /// Gets a token; `keep` stores it.
  ///
  /// If the caller is cancelled before that, or if `keep` fails because of a cancellation, the
  /// token is revoked.
  @discardableResult
  func run(
    scope: String?, keep: (SQToken) async throws(SQOAuthError) -> Void = { _ in }
  ) async throws(SQOAuthError) -> SQToken {
    let configuration = client.configuration
    guard configuration.hasProofOfItself else {
      throw SQOAuthError(
        .invalidConfiguration,
        "the client credentials grant needs a client secret, a client key, a clientAssertionSource "
          + "or a certificate")
    }
    var parameters: [FormCoding.Pair] = [.init("grant_type", "client_credentials")]
    if let scope { parameters.append(.init("scope", scope)) }
    let request = parameters
    return try await tokenRequests.token(of: client, orIfCancelled: .waitCancelled) {
      [client] () throws(SQOAuthError) in
      try await client.token(request, scope: scope)
    } use: { issued throws(SQOAuthError) in
      try client.checkScope(of: issued.token)
      try await keep(issued.token)
      return issued.token
    }
  }
}
