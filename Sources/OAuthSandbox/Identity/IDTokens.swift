import SQBasics
import SQFoundation

/// Functions that create ID tokens.
///
/// - SeeAlso: OpenID Connect Core 1.0, sections 2, 3.1.3 and 12.2
enum IDTokens {
  /// The client, user and tokens that a new ID token describes.
  struct Occasion: Redacted {
    let client: SandboxClient
    let identity: Identity
    let scopes: [String]
    let accessToken: String
    /// The authorization code of the token request; `nil` for any other grant.
    var code: String?
    var isRefresh = false
  }

  /// Creates the ID token of a token response, or returns `nil` if a misbehaviour leaves it out.
  ///
  /// - Throws: ``OAuthFault`` if the client's algorithm is an HMAC and the client has no secret.
  static func make(
    _ occasion: Occasion, _ sandbox: inout SandboxState
  ) throws(OAuthFault) -> String? {
    let algorithm = occasion.client.idTokenAlgorithm
    guard let key = sandbox.signingKey(algorithm, for: occasion.client) else {
      throw .invalidClient("\(algorithm.rawValue) needs a client with a secret.")
    }
    let jwt = SandboxJWT(
      claims(occasion, sandbox), key: key, namesKey: sandbox.options.openID.namesKeys)
    let due = sandbox.plan.take(.token, at: .idToken)
    if case .idToken(let fault) = due { return fault.token(from: jwt, occasion, &sandbox) }
    return jwt.signed(spoiledBy: due, &sandbox)
  }

  private static func claims(_ occasion: Occasion, _ sandbox: SandboxState) -> SandboxJSON {
    let (client, identity) = (occasion.client, occasion.identity)
    let options = sandbox.options.openID
    let issued = sandbox.seconds
    var claims: SandboxJSON = [
      "iss": .string(sandbox.issuer), "sub": .string(sandbox.subject(of: identity.signIn.user)),
      "aud": audience(client), "exp": .integer(issued + options.idTokenLifetime.wholeSeconds),
      "iat": .integer(issued),
    ]
    describe(identity, isRefresh: occasion.isRefresh, options, in: &claims)
    func hash(_ token: String) -> SandboxJSON {
      .string(Crypto.halfHash(of: token, for: client.idTokenAlgorithm))
    }
    claims["at_hash"] = hash(occasion.accessToken)
    if let code = occasion.code, options.tellsCodeHash { claims["c_hash"] = hash(code) }
    if !client.additionalAudiences.isEmpty || options.alwaysTellsAuthorizedParty {
      claims["azp"] = .string(client.id)
    }
    let scopes = options.putsUserClaimsIntoIDToken ? occasion.scopes : []
    return sandbox.adding(
      userClaims: identity.signIn.user, scopes, identity.claims.idToken, to: claims)
  }

  /// Adds the claims about how the user signed in.
  private static func describe(
    _ identity: Identity, isRefresh: Bool, _ options: SandboxOpenIDOptions,
    in claims: inout SandboxJSON
  ) {
    let signIn = identity.signIn
    if identity.wantsAuthenticationTime || options.alwaysTellsAuthenticationTime {
      claims["auth_time"] = signIn.time
    }
    if let nonce = identity.nonce, !isRefresh || options.repeatsNonceOnRefresh {
      claims["nonce"] = .string(nonce)
    }
    claims["acr"] = .string(signIn.acr)
    claims["amr"] = ["pwd"]
    let tellsSession =
      switch options.sessionIDs {
      case .always: true
      case .exceptOnRefresh: !isRefresh
      case .never: false
      }
    if tellsSession { claims["sid"] = .string(signIn.sessionID) }
  }

  private static func audience(_ client: SandboxClient) -> SandboxJSON {
    guard !client.additionalAudiences.isEmpty else { return .string(client.id) }
    return .strings([client.id] + client.additionalAudiences)
  }
}

extension SandboxState {
  /// The current time in seconds since 1970, the unit of a token's time claims.
  var seconds: Int { Int(now.timeIntervalSince1970) }

  /// Adds the claims about a user that the scopes include or that the app requests by name.
  ///
  /// Leaves out a claim if the app does not accept its value.
  func adding(
    userClaims name: String, _ scopes: [String], _ requests: [String: ClaimsRequest.Request],
    to claims: SandboxJSON
  ) -> SandboxJSON {
    var claims = claims
    for claim in user(name)?.profile.claims ?? [] {
      let request = requests[claim.name]
      guard scopes.contains(claim.scope) || request != nil, request?.allows(claim.value) ?? true,
        claims[claim.name] == nil
      else { continue }
      claims[claim.name] = claim.value
    }
    return claims
  }
}
