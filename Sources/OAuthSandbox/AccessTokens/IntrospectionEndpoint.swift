import SQFoundation

/// The introspection endpoint, `/introspect` (RFC 7662), for confidential clients.
///
/// It answers with plain JSON or, if the client asks for it, with a signed JWT (RFC 9701).
enum IntrospectionEndpoint {
  private static let mediaType = "application/token-introspection+jwt"

  static func answer(_ request: SandboxRequest, _ sandbox: inout SandboxState) -> Answer {
    ClientAuthenticator.answer(request, &sandbox) { client, sandbox throws(OAuthFault) in
      guard client.isConfidential else {
        throw .invalidClient("Only a client that authenticates may introspect tokens.")
      }
      guard let token = request.form("token") else { throw .invalidRequest("token is missing.") }
      let content = describe(token, sandbox)
      guard request.header("accept")?.contains(mediaType) == true else {
        return Answer(json: content)
      }
      return signed(content, for: client, &sandbox)
    }
  }

  /// Returns the answer as a JWT, signed with the algorithm of the client's ID tokens.
  ///
  /// RS256 replaces an HMAC algorithm.
  ///
  /// - SeeAlso: RFC 9701, section 5
  private static func signed(
    _ content: SandboxJSON, for client: SandboxClient, _ sandbox: inout SandboxState
  ) -> Answer {
    let algorithm = client.idTokenAlgorithm.usesSecret ? .rs256 : client.idTokenAlgorithm
    let claims: SandboxJSON = [
      "iss": .string(sandbox.issuer), "aud": .string(client.id), "iat": .integer(sandbox.seconds),
      "token_introspection": content,
    ]
    let jwt = SandboxJWT(
      claims, type: "token-introspection+jwt", key: sandbox.keys.key(for: algorithm),
      namesKey: sandbox.options.openID.namesKeys)
    return Answer(
      status: 200, headers: [("Content-Type", mediaType), ("Cache-Control", "no-store")],
      content: .text(jwt.signed(at: .introspection, &sandbox)))
  }

  private static func describe(_ token: String, _ sandbox: SandboxState) -> SandboxJSON {
    if let (found, grant) = sandbox.ledger.activeAccessToken(token, at: sandbox.now) {
      let json = describe(grant, scopes: found.scopes, found.details, found.audiences, sandbox)
        .setting("token_type", to: found.keyThumbprint == nil ? "Bearer" : "DPoP")
        .setting("cnf", to: AccessTokens.confirmation(of: found.keyThumbprint))
        .setting("iat", to: .integer(Int(found.issued.timeIntervalSince1970)))
      guard let expiry = found.expiry else { return json }
      return json.setting("exp", to: .integer(Int(expiry.timeIntervalSince1970)))
    }
    if let (found, grant) = sandbox.ledger.activeRefreshToken(token, at: sandbox.now) {
      return describe(grant, scopes: grant.scopes, grant.details, grant.audiences, sandbox)
        .setting("token_type", to: "refresh_token")
        .setting("cnf", to: AccessTokens.confirmation(of: found.keyThumbprint))
    }
    return ["active": false]
  }

  private static func describe(
    _ grant: TokenLedger.Grant, scopes: [String], _ details: [SandboxJSON],
    _ audiences: [String], _ sandbox: SandboxState
  ) -> SandboxJSON {
    var json: SandboxJSON = [
      "active": true, "client_id": .string(grant.clientID),
      "scope": .string(scopes.joined(separator: " ")), "iss": .string(sandbox.issuer),
      "aud": sandbox.claim(ofAudiences: audiences),
    ]
    if !details.isEmpty { json["authorization_details"] = .array(details) }
    grant.signIn?.describe(in: &json)
    guard let user = grant.user else { return json }
    return json.setting("username", to: .string(user)).setting(
      "sub", to: .string(sandbox.subject(of: user)))
  }
}
