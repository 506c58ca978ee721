/// The client credentials grant: a token for a program that acts in its own name.
///
/// - SeeAlso: RFC 6749, section 4.4
struct ClientCredentialsGrant: Sendable {
  let endpoint: TokenEndpoint

  func run(scope: String?) async throws(SQOAuthError) -> SQToken {
    guard endpoint.configuration.clientSecret != nil else {
      throw SQOAuthError(
        .invalidConfiguration, "the client credentials grant needs a client secret")
    }
    var parameters: [FormCoding.Pair] = [.init("grant_type", "client_credentials")]
    if let scope { parameters.append(.init("scope", scope)) }
    let token = try await endpoint.token(parameters, scope: scope)
    try endpoint.checkScope(of: token)
    return token
  }
}
