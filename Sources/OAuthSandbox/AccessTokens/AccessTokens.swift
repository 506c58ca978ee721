import SQFoundation

/// Functions that create access tokens: random strings or signed JWTs.
///
/// - SeeAlso: RFC 9068, section 2
enum AccessTokens {
  /// The grant, scopes, key and lifetime of a new access token.
  struct Occasion {
    let grant: TokenLedger.Grant
    let scopes: [String]
    var details: [SandboxJSON] = []
    /// The services that accept the token; empty for the sandbox itself.
    var audiences: [String] = []
    /// The thumbprint of the key that the token is bound to.
    var keyThumbprint: String?
    let lifetime: Duration?
  }

  static func make(_ occasion: Occasion, _ sandbox: inout SandboxState) -> String {
    guard case .jwt(let algorithm) = sandbox.options.accessTokenFormat, !algorithm.usesSecret else {
      return Crypto.secret("access-")
    }
    return signed(occasion, algorithm, type: "at+jwt", &sandbox)
  }

  /// Creates a token as a signed JWT whose `typ` header is `type`.
  static func signed(
    _ occasion: Occasion, _ algorithm: SandboxSigningAlgorithm, type: String,
    _ sandbox: inout SandboxState
  ) -> String {
    let jwt = SandboxJWT(
      claims(occasion, sandbox), type: type, key: sandbox.keys.key(for: algorithm),
      namesKey: sandbox.options.openID.namesKeys)
    return jwt.signed(at: .token, &sandbox)
  }

  /// Returns the member `cnf` of a token (RFC 9449, section 6), or `nil` for a token without a key.
  static func confirmation(of keyThumbprint: String?) -> SandboxJSON? {
    keyThumbprint.map { ["jkt": .string($0)] }
  }

  private static func claims(_ occasion: Occasion, _ sandbox: SandboxState) -> SandboxJSON {
    let grant = occasion.grant
    let issued = sandbox.seconds
    var claims: SandboxJSON = [
      "iss": .string(sandbox.issuer),
      "sub": .string(grant.user.map(sandbox.subject(of:)) ?? grant.clientID),
      "aud": sandbox.claim(ofAudiences: occasion.audiences), "client_id": .string(grant.clientID),
      "exp": .integer(issued + (occasion.lifetime ?? .seconds(86_400)).wholeSeconds),
      "iat": .integer(issued), "jti": .string(Crypto.secret("token-")),
    ]
    if !occasion.scopes.isEmpty {
      claims["scope"] = .string(occasion.scopes.joined(separator: " "))
    }
    grant.signIn?.describe(in: &claims)
    if !occasion.details.isEmpty {
      // The token itself contains the granted details (RFC 9396, section 9.1).
      claims["authorization_details"] = .array(occasion.details)
    }
    claims["act"] = grant.actor
    claims["cnf"] = confirmation(of: occasion.keyThumbprint)
    return claims
  }
}

extension SandboxState {
  /// Issues an access token for a grant, bound to a key if there is one, and records it in the
  /// ledger.
  mutating func issueAccessToken(
    grant: Int, scopes: [String], details: [SandboxJSON] = [], audiences: [String]? = nil,
    keyThumbprint: String?
  ) -> String {
    let lifetime = options.accessTokenLifetime
    let audiences = audiences ?? ledger.grants[grant].audiences
    let token = AccessTokens.make(
      AccessTokens.Occasion(
        grant: ledger.grants[grant], scopes: scopes, details: details, audiences: audiences,
        keyThumbprint: keyThumbprint, lifetime: lifetime), &self)
    ledger.remember(
      accessToken: token, of: grant, scopes: scopes, details: details, audiences: audiences,
      keyThumbprint: keyThumbprint, lifetime: lifetime, now: now)
    return token
  }

  /// Issues a refresh token for a grant, bound to the key if the client is public or the options
  /// bind all refresh tokens.
  ///
  /// A confidential client authenticates with each refresh, so its refresh token needs no key (RFC
  /// 9449, section 5).
  mutating func issueRefreshToken(grant: Int, keyThumbprint: String?) -> String {
    let isConfidential = client(ledger.grants[grant].clientID)?.isConfidential ?? false
    let isBound = options.dpop.bindsAllRefreshTokens || !isConfidential
    let token = ledger.issueRefreshToken(grant: grant, keyThumbprint: isBound ? keyThumbprint : nil)
    renewEnds(of: token, grant: grant)
    return token
  }

  /// Returns the `aud` claim of a token: one audience as a string, several as an array, and the
  /// issuer if there is none.
  func claim(ofAudiences audiences: [String]) -> SandboxJSON {
    switch audiences.count {
    case 0: .string(issuer)
    case 1: .string(audiences[0])
    default: .strings(audiences)
    }
  }
}

extension SandboxRequest {
  /// The services that a token request names in `audience` and `resource`.
  ///
  /// - SeeAlso: RFC 8693, section 2.1; RFC 8707, section 2.2
  var audiences: [String] {
    form.filter { ["audience", "resource"].contains($0.name) }.map(\.value)
  }
}
