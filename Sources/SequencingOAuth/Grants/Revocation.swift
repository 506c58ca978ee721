/// The revocation of a token at its authorization server.
///
/// - SeeAlso: RFC 7009
struct Revocation: Sendable {
  let client: RegisteredClient

  /// Sends all revocation requests for a token.
  ///
  /// If the server revokes the refresh token but no access tokens, this call succeeds, because the
  /// access token expires soon.
  func run(_ token: SQToken) async throws(SQOAuthError) {
    var unsupported: SQOAuthError?
    let client = client.proving(with: token.proofKey)
    for (index, unproven) in try requests(for: token).enumerated() {
      // RFC 9449 does not mention the revocation endpoint, but some servers ask for a proof there.
      let (answer, request) = try await client.exchange(
        at: unproven.endpoint, proving: .ifAsked
      ) { () throws(SQOAuthError) in
        var request = unproven
        request.client = try await client.proving(request.client, at: request.endpoint)
        return request
      }
      do throws(SQOAuthError) {
        let receivedAt = client.environment.clock.now
        try RevocationResponse(request: request, receivedAt: receivedAt).check(answer)
      } catch {
        guard error.code == .unsupportedTokenType else { throw error }
        if index == 0 { unsupported = error }
      }
    }
    if let unsupported { throw unsupported }
  }

  /// Returns the requests that revoke a token, in sending order and without an assertion.
  ///
  /// The refresh token comes first, because a thief could get new tokens with it. If a request
  /// fails with ``SQOAuthError/Code/unsupportedTokenType``, the next one can still succeed.
  func requests(for token: SQToken) throws(SQOAuthError) -> [RevocationRequest] {
    guard let endpoint = try client.metadata.address(of: .revocation) else {
      throw SQOAuthError(
        .revocationUnsupported,
        "the provider has no revocation endpoint; call signOut, or configure the endpoint")
    }
    let configuration = client.configuration
    let credentials = try client.unprovenCredentials(
      supported: client.metadata.revocationAuthenticationMethods)
    let style = configuration.provider.revocationStyle
    func request(_ token: String, _ kind: RevocationRequest.Kind) -> RevocationRequest {
      RevocationRequest(
        endpoint: endpoint, style: style, token: token, kind: kind, client: credentials,
        timeout: configuration.timeout)
    }
    let refresh = token.refreshToken.map { request($0, .refreshToken) }
    switch style {
    case .rfc7009:
      return [refresh, request(token.accessToken, .accessToken)].compactMap(\.self)
    case .facebookPermissions, .slackToken:
      return [request(token.accessToken, .accessToken)]
    case .gitHubToken:
      guard configuration.clientSecret != nil else {
        throw SQOAuthError(
          .revocationUnsupported,
          "the provider revokes a token only for a client with a secret, and the client has none")
      }
      return [request(token.accessToken, .accessToken)]
    case .keycloakLogout:
      guard let refresh else {
        throw SQOAuthError(
          .revocationUnsupported,
          "the provider's logout needs a refresh token, and the account has none")
      }
      return [refresh]
    }
  }
}
