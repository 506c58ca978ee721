import SQBasics

/// The client credentials grant: a token for a program that acts in its own name.
///
/// - SeeAlso: RFC 6749, section 4.4
struct ClientCredentialsGrant: Sendable {
  let client: RegisteredClient
  /// The token requests of cancelled callers; their tokens are revoked.
  let abandoned: AbandonedTokens

  func run(scope: String?) async throws(SQOAuthError) -> SQToken {
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
    let token = try await abandoned.token(of: client, orIfCancelled: .waitCancelled) {
      [client] () throws(SQOAuthError) in
      try await client.token(request, scope: scope)
    }.token
    try client.checkScope(of: token)
    return token
  }
}
