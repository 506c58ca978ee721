public import Basics

/// Tokens as the sandbox issued them.
public struct SandboxTokens: Sendable, Hashable {
  /// The access token.
  public let accessToken: String
  /// The refresh token.
  public let refreshToken: String
}

extension SandboxTokens: Redacted {
  /// A fixed text without the tokens.
  public var description: String { "tokens" }
}

extension SandboxServer {
  /// Issues tokens without a sign-in, as if the user had just allowed it.
  ///
  /// The scopes default to all; a client or user that is not registered is believed.
  public func issueTokens(
    to clientID: String = SandboxClient.app.id, for user: String = SandboxUser.alice.name,
    scopes: [String]? = nil
  ) -> SandboxTokens {
    core.withState { state in
      let scopes = scopes ?? state.options.scopes.map(\.name)
      let grant = state.ledger.open(
        TokenLedger.Grant(clientID: clientID, user: user, scopes: scopes))
      return SandboxTokens(
        accessToken: state.ledger.issueAccessToken(
          grant: grant, scopes: scopes, lifetime: state.options.accessTokenLifetime,
          now: state.now),
        refreshToken: state.ledger.issueRefreshToken(grant: grant))
    }
  }

  /// Whether an access token or a refresh token is accepted now.
  public func isActive(_ token: String) -> Bool {
    core.withState {
      $0.ledger.activeAccessToken(token, at: $0.now) != nil
        || $0.ledger.activeRefreshToken(token) != nil
    }
  }

  /// The refresh token that was issued last, to whomever.
  public var latestRefreshToken: String? { core.withState { $0.ledger.latestRefreshToken } }

  /// The refresh token that was issued last for a user, to one client or to any.
  public func latestRefreshToken(for user: String, client: String? = nil) -> String? {
    core.withState { $0.ledger.latestRefreshToken(for: user, client: client) }
  }

  /// The refresh token that was issued last in the line that an access or refresh token belongs to.
  ///
  /// A line begins with a permission, a user's or a client's own, and goes on with each refresh.
  public func latestRefreshToken(inFamilyOf token: String) -> String? {
    core.withState { $0.ledger.latestRefreshToken(inFamilyOf: token) }
  }

  /// How often a refresh token came that had been exchanged before.
  ///
  /// Each time all that came from the same permission was revoked (RFC 9700, section 4.14.2). Without
  /// ``SandboxOptions/rotatesRefreshTokens`` it stays zero.
  public var refreshTokenReuses: Int { core.withState { $0.ledger.reuses } }

  /// Lets all access tokens expire at once; refresh tokens stay.
  public func expireAccessTokens() {
    core.withState { $0.ledger.expireAccessTokens(now: $0.now) }
  }

  /// Revokes every code and every token; users stay signed in in their browsers.
  public func revokeEverything() {
    core.withState { $0.ledger.revokeEverything() }
  }
}
