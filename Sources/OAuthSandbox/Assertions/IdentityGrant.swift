/// An ID-JAG: an identity provider's grant for another authorization server.
///
/// - SeeAlso: draft-ietf-oauth-identity-assertion-authz-grant, sections 3 and 4
enum IdentityGrant {
  static let tokenType = "urn:ietf:params:oauth:token-type:id-jag"
  /// The `typ` in the grant's header.
  static let headerType = "oauth-id-jag+jwt"
  /// The lifetime of a grant, in seconds.
  static let lifetime = 300

  /// Returns the response to a token exchange that asks for an ID-JAG.
  static func issue(
    _ request: SandboxRequest, _ client: SandboxClient, _ subject: TokenLedger.Grant,
    _ sandbox: inout SandboxState
  ) throws(OAuthFault) -> SandboxJSON {
    guard let user = subject.user, subject.clientID == client.id else {
      throw .invalidGrant("The subject's token does not belong to a user of this client.")
    }
    guard let audience = request.form("audience"), audience != sandbox.issuer else {
      throw .invalidRequest("audience must be the issuer of one other authorization server.")
    }
    var claims: SandboxJSON = [
      "iss": .string(sandbox.issuer), "sub": .string(sandbox.subject(of: user)),
      "aud": .string(audience), "iat": .integer(sandbox.seconds),
      "client_id": .string(client.identifiers[audience] ?? client.id),
      "exp": .integer(sandbox.seconds + lifetime), "jti": .string(Crypto.secret("grant-")),
    ]
    claims["resource"] = request.form("resource").map(SandboxJSON.string)
    claims["scope"] = request.form("scope").map(SandboxJSON.string)
    let jwt = SandboxJWT(
      claims, type: headerType, key: sandbox.keys.key(for: .rs256), namesKey: true)
    var response: SandboxJSON = [
      "access_token": .string(jwt.signed(at: .token, &sandbox)),
      "issued_token_type": .string(tokenType), "token_type": "N_A",
      "expires_in": .integer(lifetime),
    ]
    response["scope"] = claims["scope"]
    return response
  }
}
