/// The revocation endpoint, `/revoke` (RFC 7009).
enum RevocationEndpoint {
  /// Revokes a token, and with a refresh token also all access tokens of its grant.
  static func answer(_ request: SandboxRequest, _ sandbox: inout SandboxState) -> Answer {
    ClientAuthenticator.answer(request, &sandbox) { client, sandbox throws(OAuthFault) in
      guard let token = request.form("token") else { throw .invalidRequest("token is missing.") }
      // `token_type_hint` only says where to look first, and the sandbox looks for both types
      // anyway.
      if let found = sandbox.ledger.refreshTokens[token] {
        try check(client, owns: found.grant, sandbox)
        sandbox.ledger.revoke(grant: found.grant)
      } else if let found = sandbox.ledger.accessTokens[token] {
        try check(client, owns: found.grant, sandbox)
        sandbox.ledger.revoke(accessToken: token)
      }
      // An unknown token counts as revoked (RFC 7009, section 2.2).
      return Answer(status: 200, headers: [("Cache-Control", "no-store")], content: .text(""))
    }
  }

  private static func check(
    _ client: SandboxClient, owns grant: Int, _ sandbox: SandboxState
  ) throws(OAuthFault) {
    guard sandbox.ledger.grants[grant].clientID == client.id else {
      throw .unauthorizedClient("The token was issued to another client.")
    }
  }
}
