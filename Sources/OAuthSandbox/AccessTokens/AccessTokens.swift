#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Makes the texts of access tokens.
///
/// - SeeAlso: RFC 9068, section 2
enum AccessTokens {
  /// What an access token stands for.
  struct Occasion {
    let grant: TokenLedger.Grant
    let scopes: [String]
    let lifetime: Duration?
  }

  static func make(_ occasion: Occasion, _ sandbox: inout SandboxState) -> String {
    guard case .jwt(let algorithm) = sandbox.options.accessTokenFormat, !algorithm.usesSecret else {
      return Crypto.secret("access-")
    }
    return signed(occasion, algorithm, type: "at+jwt", &sandbox)
  }

  /// A signed JWT with a type of its own.
  static func signed(
    _ occasion: Occasion, _ algorithm: SandboxSigningAlgorithm, type: String,
    _ sandbox: inout SandboxState
  ) -> String {
    let jwt = SandboxJWT(
      claims(occasion, sandbox), type: type, key: sandbox.keys.key(for: algorithm),
      namesKey: sandbox.options.openID.namesKeys)
    switch sandbox.plan.take(.token, where: \.concernsJWT) {
    case .jwt(let fault): return fault.misshapen(jwt, &sandbox) ?? jwt.signed
    case .alteredJWT(let change):
      var altered = jwt
      change(&altered)
      return altered.signed
    default: return jwt.signed
    }
  }

  private static func claims(_ occasion: Occasion, _ sandbox: SandboxState) -> SandboxJSON {
    let grant = occasion.grant
    let issued = sandbox.seconds
    var claims: SandboxJSON = [
      "iss": .string(sandbox.issuer),
      "sub": .string(grant.user.map(sandbox.subject(of:)) ?? grant.clientID),
      "aud": sandbox.audience(of: grant), "client_id": .string(grant.clientID),
      "exp": .integer(issued + (occasion.lifetime ?? .seconds(86_400)).wholeSeconds),
      "iat": .integer(issued), "jti": .string(Crypto.secret("token-")),
    ]
    if !occasion.scopes.isEmpty {
      claims["scope"] = .string(occasion.scopes.joined(separator: " "))
    }
    if let signIn = grant.identity?.signIn {
      claims["auth_time"] = .integer(Int(signIn.date.timeIntervalSince1970))
      claims["acr"] = .string(signIn.acr)
    }
    claims["act"] = grant.actor
    return claims
  }
}

extension SandboxState {
  /// Issues an access token of a grant.
  mutating func issueAccessToken(grant: Int, scopes: [String]) -> String {
    let lifetime = options.accessTokenLifetime
    let token = AccessTokens.make(
      AccessTokens.Occasion(grant: ledger.grants[grant], scopes: scopes, lifetime: lifetime), &self)
    ledger.remember(
      accessToken: token, of: grant, scopes: scopes, lifetime: lifetime, now: now)
    return token
  }

  /// Who may accept the tokens of a grant: a text, or an array of several.
  func audience(of grant: TokenLedger.Grant) -> SandboxJSON {
    switch grant.audiences.count {
    case 0: .string(issuer)
    case 1: .string(grant.audiences[0])
    default: .array(grant.audiences.map(SandboxJSON.string))
    }
  }
}

extension SandboxRequest {
  /// The services for which a token request asks for a token.
  ///
  /// - SeeAlso: RFC 8693, section 2.1; RFC 8707, section 2.2
  var audiences: [String] {
    form.filter { ["audience", "resource"].contains($0.name) }.map(\.value)
  }
}
