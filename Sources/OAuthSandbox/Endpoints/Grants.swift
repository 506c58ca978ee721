/// The grants of the token endpoint; each checks the client's evidence, such as a code, and returns
/// a token response.
enum Grants {
  static func redeem(
    _ grantType: String, _ request: SandboxRequest, _ client: SandboxClient,
    _ sandbox: inout SandboxState
  ) throws(OAuthFault) -> SandboxJSON {
    if let decide = sandbox.options.extensionGrants[grantType] {
      return try redeemExtension(decide, request, client, &sandbox)
    }
    return switch grantType {
    case "authorization_code": try redeemCode(request, client, &sandbox)
    case "refresh_token": try refresh(request, client, &sandbox)
    case DeviceGrant.type: try DeviceGrant.redeem(request, client, &sandbox)
    case TokenExchangeGrant.type: try TokenExchangeGrant.redeem(request, client, &sandbox)
    case JWTBearerGrant.type: try JWTBearerGrant.redeem(request, client, &sandbox)
    case "password": try redeemPassword(request, client, &sandbox)
    default: try grantClient(request, client, &sandbox)
    }
  }

  // MARK: Authorization code

  private static func redeemCode(
    _ request: SandboxRequest, _ client: SandboxClient, _ sandbox: inout SandboxState
  ) throws(OAuthFault) -> SandboxJSON {
    guard let text = request.form("code") else { throw .invalidRequest("code is missing.") }
    guard let code = sandbox.ledger.codes[text], code.clientID == client.id else {
      throw .invalidGrant("There is no such code for this client.")
    }
    guard !code.isUsed else {
      // The code is used a second time, so it may be stolen: revoke the tokens that were issued for
      // the code (RFC 6749, section 4.1.2).
      if let grant = code.grant { sandbox.ledger.revoke(grant: grant) }
      throw .invalidGrant("The code was used before.")
    }
    // A code allows only one attempt, successful or not.
    sandbox.ledger.codes[text]?.isUsed = true
    guard code.expiry > sandbox.now else { throw .invalidGrant("The code has expired.") }
    guard request.form("redirect_uri") == code.redirectURI else {
      throw .invalidGrant("redirect_uri is not that of the authorization request.")
    }
    try checkVerifier(request.form("code_verifier"), code.challenge)
    try sandbox.checkKey(code.keyThumbprint, of: request, "code")
    let details = try sandbox.details(of: request, within: code.details)
    let opened = TokenLedger.Grant(
      clientID: client.id, user: code.user, scopes: code.scopes, identity: code.identity,
      signIn: code.signIn, audiences: code.resources, details: code.details)
    let audiences = try sandbox.audiences(of: request, within: opened)
    let grant = sandbox.ledger.open(opened)
    sandbox.ledger.codes[text]?.grant = grant
    let response = sandbox.tokenResponse(
      grant: grant, scopes: code.scopes, details: details, audiences: audiences,
      hasRefreshToken: true, key: request.tokenKey)
    return try sandbox.addingIDToken(to: response, grant: grant, code: text)
  }

  private static func checkVerifier(_ verifier: String?, _ challenge: String?) throws(OAuthFault) {
    guard let challenge else {
      guard verifier == nil else {
        throw .invalidGrant("The authorization request had no code_challenge.")
      }
      return
    }
    guard let verifier, (43...128).contains(verifier.utf8.count),
      verifier.utf8.allSatisfy(\.isUnreserved), Crypto.digest(of: verifier) == challenge
    else {
      throw .invalidGrant(
        "code_verifier is missing, is not 43 to 128 letters, digits and -._~, or does not match "
          + "the code_challenge.")
    }
  }

  // MARK: Refresh token

  private static func refresh(
    _ request: SandboxRequest, _ client: SandboxClient, _ sandbox: inout SandboxState
  ) throws(OAuthFault) -> SandboxJSON {
    guard let token = request.form("refresh_token") else {
      throw .invalidRequest("refresh_token is missing.")
    }
    guard let found = sandbox.ledger.refreshTokens[token],
      sandbox.ledger.grants[found.grant].clientID == client.id
    else { throw .invalidGrant("There is no such refresh token for this client.") }
    guard !found.isUsed else {
      // The refresh token was already replaced by a new one, so either this client or a thief has
      // kept the old one (RFC 9700, section 4.14).
      sandbox.ledger.noteReuse(of: found)
      throw .invalidGrant(
        "The refresh token was used before, so all tokens of its grant are revoked.")
    }
    let grant = sandbox.ledger.grants[found.grant]
    guard !grant.isRevoked else { throw .invalidGrant("The refresh token was revoked.") }
    try sandbox.checkEnd(of: found)
    try sandbox.checkKey(found.keyThumbprint, of: request, "refresh token")
    var scopes = grant.scopes
    if let asked = request.form("scope"), !asked.isEmpty {
      let names = asked.split(separator: " ").map(String.init)
      guard names.allSatisfy(scopes.contains) else {
        throw .invalidScope("The user did not allow all requested scopes.")
      }
      scopes = scopes.filter(names.contains)
    }
    let details = try sandbox.details(of: request, within: grant.details)
    let audiences = try sandbox.audiences(of: request, within: grant)
    if sandbox.options.rotatesRefreshTokens {
      sandbox.ledger.markUsed(refreshToken: token, at: sandbox.now)
    }
    var response = sandbox.tokenResponse(
      grant: found.grant, scopes: scopes, details: details, audiences: audiences,
      hasRefreshToken: sandbox.options.rotatesRefreshTokens, key: request.tokenKey)
    if !sandbox.options.rotatesRefreshTokens {
      sandbox.renewEnds(of: token, grant: found.grant)
      response = sandbox.addingLifetimes(of: token, grant: found.grant, to: response)
    }
    guard sandbox.options.openID.issuesIDTokenOnRefresh, scopes.contains("openid") else {
      return response
    }
    return try sandbox.addingIDToken(to: response, grant: found.grant, isRefresh: true)
  }

  // MARK: Password, extensions and client credentials

  private static func redeemPassword(
    _ request: SandboxRequest, _ client: SandboxClient, _ sandbox: inout SandboxState
  ) throws(OAuthFault) -> SandboxJSON {
    guard let name = request.form("username"), let password = request.form("password") else {
      throw .invalidRequest("username or password is missing.")
    }
    guard let user = sandbox.user(name, password: password) else {
      throw .invalidGrant("The user name or the password is wrong.")
    }
    return try open(request, client, user: user.name, &sandbox)
  }

  private static func redeemExtension(
    _ decide: @Sendable ([SandboxParameter]) -> String?, _ request: SandboxRequest,
    _ client: SandboxClient, _ sandbox: inout SandboxState
  ) throws(OAuthFault) -> SandboxJSON {
    guard let user = sandbox.calling({ decide(request.form) }) else {
      throw .invalidGrant("The sandbox's extension grant refused the request.")
    }
    return try open(request, client, user: user, &sandbox)
  }

  private static func grantClient(
    _ request: SandboxRequest, _ client: SandboxClient, _ sandbox: inout SandboxState
  ) throws(OAuthFault) -> SandboxJSON {
    try open(request, client, user: nil, &sandbox)
  }

  static func open(
    _ request: SandboxRequest, _ client: SandboxClient, user: String?,
    _ sandbox: inout SandboxState
  ) throws(OAuthFault) -> SandboxJSON {
    let details = try sandbox.details(of: request, for: client)
    let scopes = try sandbox.scopes(request.form("scope"), for: client, details: details)
    _ = try sandbox.resources(in: request.form)
    let grant = sandbox.open(
      clientID: client.id, user: user, scopes: scopes, audiences: request.audiences,
      details: details)
    // Without a user, there is no refresh token: the client can request a new token at any time
    // (RFC 6749, section 4.4.3).
    let response = sandbox.tokenResponse(
      grant: grant, scopes: scopes, details: details, hasRefreshToken: user != nil,
      key: request.tokenKey)
    return try sandbox.addingIDToken(to: response, grant: grant)
  }
}

extension SandboxState {
  private func issuesRefreshTokens(to clientID: String) -> Bool {
    guard options.issuesRefreshTokens, let client = client(clientID) else { return false }
    return client.accepts(grantType: "refresh_token")
      && TokenEndpoint.supportedGrantTypes(self).contains("refresh_token")
  }

  /// Adds a grant that needed no consent page to the ledger, and returns its index.
  ///
  /// A user's grant with the scope `openid` begins a new session.
  mutating func open(
    clientID: String, user: String?, scopes: [String], audiences: [String] = [],
    details: [SandboxJSON] = []
  ) -> Int {
    let identity = user.map { self.identity(ofNew: $0) }
    return ledger.open(
      TokenLedger.Grant(
        clientID: clientID, user: user, scopes: scopes,
        identity: scopes.contains("openid") ? identity : nil, signIn: identity?.signIn,
        audiences: audiences, details: details))
  }

  /// Adds an ID token to a token response if the grant has the scope `openid`.
  mutating func addingIDToken(
    to response: SandboxJSON, grant: Int, code: String? = nil, isRefresh: Bool = false
  ) throws(OAuthFault) -> SandboxJSON {
    let found = ledger.grants[grant]
    guard let identity = found.identity, let client = client(found.clientID),
      case .string(let accessToken)? = response["access_token"]
    else { return response }
    let occasion = IDTokens.Occasion(
      client: client, identity: identity, scopes: found.scopes, accessToken: accessToken,
      code: code, isRefresh: isRefresh)
    guard let token = try IDTokens.make(occasion, &self) else { return response }
    ledger.remember(idToken: token, of: grant)
    return response.setting("id_token", to: .string(token))
  }

  /// Issues tokens and returns the token response of RFC 6749, section 5.1.
  ///
  /// With `hasRefreshToken`, a client that may use a refresh token gets one. `audiences` are the
  /// access token's audiences; `nil` stands for all audiences of the grant. `key` is the thumbprint
  /// of the key that the tokens are bound to.
  mutating func tokenResponse(
    grant: Int, scopes: [String], details: [SandboxJSON] = [], audiences: [String]? = nil,
    hasRefreshToken: Bool, key: String?
  ) -> SandboxJSON {
    let lifetime = options.accessTokenLifetime
    let details = granted(details)
    let token = issueAccessToken(
      grant: grant, scopes: scopes, details: details, audiences: audiences, keyThumbprint: key)
    var json: SandboxJSON = [
      "access_token": .string(token), "token_type": key == nil ? "Bearer" : "DPoP",
    ]
    if let lifetime {
      json = json.setting("expires_in", to: .integer(lifetime.wholeSeconds))
    }
    if hasRefreshToken, issuesRefreshTokens(to: ledger.grants[grant].clientID) {
      let refreshToken = issueRefreshToken(grant: grant, keyThumbprint: key)
      json = json.setting("refresh_token", to: .string(refreshToken))
      json = addingLifetimes(of: refreshToken, grant: grant, to: json)
    }
    if !details.isEmpty { json["authorization_details"] = .array(details) }
    guard details.isEmpty || !scopes.isEmpty else { return json }
    return json.setting("scope", to: .string(scopes.joined(separator: " ")))
  }
}
