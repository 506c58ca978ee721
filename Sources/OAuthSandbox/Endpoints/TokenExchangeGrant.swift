/// The token exchange grant, for confidential clients only.
///
/// - SeeAlso: RFC 8693
enum TokenExchangeGrant {
  static let type = "urn:ietf:params:oauth:grant-type:token-exchange"

  private static let prefix = "urn:ietf:params:oauth:token-type:"

  /// The grant of a token in the request, and the scopes of the token itself.
  private struct Party {
    let grant: TokenLedger.Grant
    /// The token's scopes, which may be fewer than those of the grant.
    let scopes: [String]
  }

  static func redeem(
    _ request: SandboxRequest, _ client: SandboxClient, _ sandbox: inout SandboxState
  ) throws(OAuthFault) -> SandboxJSON {
    guard client.isConfidential else {
      throw .invalidClient("Only a client that authenticates may exchange tokens.")
    }
    guard let subject = try party("subject", request, sandbox) else {
      throw .invalidRequest("subject_token is missing.")
    }
    let actor = try party("actor", request, sandbox)
    let own = sandbox.ownResources
    if let known = sandbox.options.audiences {
      guard request.audiences.allSatisfy({ known.contains($0) || own.contains($0) }) else {
        throw .invalidTarget("audience or resource names an unknown service.")
      }
    }
    // Do not check the scopes of an ID-JAG, because they are scopes of the other server.
    guard request.form("requested_token_type") != IdentityGrant.tokenType else {
      return try IdentityGrant.issue(request, client, subject.grant, &sandbox)
    }
    let scopes = try scopes(request, subject)
    var grant = TokenLedger.Grant(
      clientID: client.id, user: subject.grant.user, scopes: scopes, signIn: subject.grant.signIn)
    grant.audiences = request.audiences
    grant.actor = (actor?.grant).map {
      ["sub": .string($0.user.map(sandbox.subject(of:)) ?? $0.clientID)]
    }
    return try answer(request, sandbox.ledger.open(grant), &sandbox)
  }

  private static func answer(
    _ request: SandboxRequest, _ grant: Int, _ sandbox: inout SandboxState
  ) throws(OAuthFault) -> SandboxJSON {
    let scopes = sandbox.ledger.grants[grant].scopes
    switch request.form("requested_token_type") ?? prefix + "access_token" {
    case prefix + "access_token":
      return sandbox.tokenResponse(
        grant: grant, scopes: scopes, hasRefreshToken: false, key: request.tokenKey
      ).setting("issued_token_type", to: .string(prefix + "access_token"))
    case prefix + "jwt":
      let lifetime = sandbox.options.accessTokenLifetime ?? .seconds(3600)
      let text = AccessTokens.signed(
        AccessTokens.Occasion(
          grant: sandbox.ledger.grants[grant], scopes: scopes,
          audiences: sandbox.ledger.grants[grant].audiences, lifetime: lifetime), .rs256,
        type: "JWT", &sandbox)
      return [
        "access_token": .string(text), "issued_token_type": .string(prefix + "jwt"),
        "token_type": "N_A", "expires_in": .integer(lifetime.wholeSeconds),
        "scope": .string(scopes.joined(separator: " ")),
      ]
    default:
      throw .invalidRequest(
        "requested_token_type must be that of an access token, a JWT or an ID-JAG.")
    }
  }

  /// Returns the grant and scopes of the token in a parameter; `nil` without the parameter.
  private static func party(
    _ name: String, _ request: SandboxRequest, _ sandbox: SandboxState
  ) throws(OAuthFault) -> Party? {
    guard let token = request.form("\(name)_token") else {
      guard request.form("\(name)_token_type") == nil else {
        throw .invalidRequest("\(name)_token_type came without a token.")
      }
      return nil
    }
    let party: Party? =
      switch request.form("\(name)_token_type") {
      case prefix + "access_token", prefix + "jwt":
        sandbox.ledger.activeAccessToken(token, at: sandbox.now)
          .map { Party(grant: $0.grant, scopes: $0.token.scopes) }
      case prefix + "refresh_token":
        sandbox.ledger.activeRefreshToken(token, at: sandbox.now)
          .map { Party(grant: $0.grant, scopes: $0.grant.scopes) }
      case prefix + "id_token":
        try sandbox.grant(ofUnexpiredIDToken: token).map { Party(grant: $0, scopes: $0.scopes) }
      default: throw .invalidRequest("\(name)_token_type is missing or unknown.")
      }
    guard let party else { throw .invalidRequest("\(name)_token is invalid or of another type.") }
    return party
  }

  /// Returns the new token's scopes, which are a subset of the subject token's scopes.
  private static func scopes(
    _ request: SandboxRequest, _ subject: Party
  ) throws(OAuthFault) -> [String] {
    guard let asked = request.form("scope"), !asked.isEmpty else {
      return subject.scopes.filter { $0 != "openid" && $0 != "offline_access" }
    }
    let names = asked.split(separator: " ").map(String.init)
    guard names.allSatisfy(subject.scopes.contains) else {
      throw .invalidScope("The subject's token lacks some of these scopes.")
    }
    return names
  }
}

extension SandboxState {
  /// Returns the grant of an ID token, or `nil` if the sandbox did not issue the token.
  ///
  /// Throws if the token has expired or is malformed.
  fileprivate func grant(
    ofUnexpiredIDToken text: String
  ) throws(OAuthFault) -> TokenLedger.Grant? {
    guard case .integer(let end)? = ReceivedJWT(text)?.claims["exp"], end > seconds else {
      throw .invalidGrant("The ID token has expired or is malformed.")
    }
    return ledger.grant(ofIDToken: text)
  }
}
