public import SQBasics

/// The tokens that the sandbox issued for one grant.
public struct SandboxTokens: Sendable, Hashable {
  /// The access token.
  public let accessToken: String
  /// The refresh token.
  public let refreshToken: String
  /// The ID token, or `nil` if none was issued.
  ///
  /// An ID token needs the scope `openid` and a registered client; if its algorithm is an HMAC, the
  /// client needs a secret too.
  public let idToken: String?
}

extension SandboxTokens: Redacted {
  /// A fixed text that shows no token.
  public var description: String { "tokens" }
}

extension SandboxServer {
  /// Issues tokens without a sign-in, as if the user had just allowed the access.
  ///
  /// The default scopes are all but ``SandboxScope/openID``. Neither the client nor the user has to
  /// be registered. `audiences` are the services that accept the access token; an empty array
  /// stands for the sandbox itself.
  ///
  /// If `keyThumbprint` is the thumbprint of a key, the access token is bound to that key. The
  /// refresh token is bound too if the client is public or
  /// ``SandboxDPoPOptions/bindsAllRefreshTokens`` is set. If ``SandboxOptions/dpop`` is off, no
  /// token is bound.
  public func issueTokens(
    to clientID: String = SandboxClient.app.id, for user: String = SandboxUser.alice.name,
    scopes: [String]? = nil, audiences: [String] = [], boundTo keyThumbprint: String? = nil
  ) -> SandboxTokens {
    core.withState { state in
      let scopes = scopes ?? state.defaultScopes
      let key = state.options.dpop.isOn ? keyThumbprint : nil
      let grant = state.open(
        clientID: clientID, user: user, scopes: scopes, audiences: audiences)
      let accessToken = state.issueAccessToken(
        grant: grant, scopes: scopes, keyThumbprint: key)
      let response = try? state.addingIDToken(
        to: ["access_token": .string(accessToken)], grant: grant)
      let idToken: String? =
        if case .string(let token)? = response?["id_token"] { token } else { nil }
      return SandboxTokens(
        accessToken: accessToken,
        refreshToken: state.issueRefreshToken(grant: grant, keyThumbprint: key), idToken: idToken)
    }
  }

  /// Returns whether the sandbox accepts this access token or refresh token now.
  public func isActive(_ token: String) -> Bool {
    core.withState {
      $0.ledger.activeAccessToken(token, at: $0.now) != nil
        || $0.ledger.activeRefreshToken(token, at: $0.now) != nil
    }
  }

  /// The newest refresh token that the sandbox issued to any client.
  public var latestRefreshToken: String? { core.withState { $0.ledger.latestRefreshToken } }

  /// Returns the newest refresh token of a user, issued to one client or, if `client` is `nil`, to
  /// any.
  public func latestRefreshToken(for user: String, client: String? = nil) -> String? {
    core.withState { $0.ledger.latestRefreshToken(for: user, client: client) }
  }

  /// Returns the newest refresh token in the family of an access token or a refresh token.
  ///
  /// A family is all tokens of one grant: the first tokens and those from each refresh.
  public func latestRefreshToken(inFamilyOf token: String) -> String? {
    core.withState { $0.ledger.latestRefreshToken(inFamilyOf: token) }
  }

  /// The number of times that clients sent a refresh token that they had already exchanged.
  ///
  /// Each time, all tokens of the same grant were revoked (RFC 9700, section 4.14.2). Without
  /// ``SandboxOptions/rotatesRefreshTokens``, the number stays zero.
  public var refreshTokenReuses: Int { core.withState { $0.ledger.reuses } }

  /// Makes all access tokens expire at once, while refresh tokens stay valid.
  public func expireAccessTokens() {
    core.withState { $0.ledger.expireAccessTokens(now: $0.now) }
  }

  /// Revokes all codes and tokens; users stay signed in at the sandbox.
  public func revokeEverything() {
    core.withState { $0.ledger.revokeEverything() }
  }
}
