import SQFoundation

// How long refresh tokens and permissions last.
extension SandboxState {
  /// Restarts a refresh token's lifetime now; the grant's lifetime starts with its first refresh
  /// token.
  mutating func renewEnds(of refreshToken: String, grant: Int) {
    let grantEnd = ledger.grants[grant].end ?? end(after: options.authorizationLifetime)
    let tokenEnd = end(after: options.refreshTokenTimeout).map { min($0, grantEnd ?? $0) }
    ledger.end(refreshToken: refreshToken, of: grant, at: (tokenEnd, grantEnd))
  }

  private func end(after lifetime: Duration?) -> Date? {
    lifetime.map { now.addingTimeInterval($0.timeInterval) }
  }

  /// Adds the lifetimes of a refresh token and of its grant to a token response.
  ///
  /// - SeeAlso: draft-ietf-oauth-refresh-token-expiration, section 5.1
  func addingLifetimes(
    of refreshToken: String, grant: Int, to response: SandboxJSON
  ) -> SandboxJSON {
    var response = response
    for (name, end) in [
      ("refresh_token_timeout", ledger.refreshTokens[refreshToken]?.end),
      ("authorization_expires_in", ledger.grants[grant].end),
    ] {
      if let end { response[name] = .integer(Int(end.timeIntervalSince(now))) }
    }
    return response
  }

  /// Throws if a refresh token was not used for too long, or if the user's permission has ended.
  func checkEnd(of token: TokenLedger.RefreshToken) throws(OAuthFault) {
    guard token.end.isLater(than: now) else {
      throw .invalidGrant("The refresh token has expired.")
    }
    guard ledger.grants[token.grant].end.isLater(than: now) else {
      throw .invalidGrant("The user's permission has ended.")
    }
  }

  /// The kinds of expiration that token responses name, for the server's metadata.
  var expirationTypes: [String] {
    (options.authorizationLifetime == nil ? [] : ["authorization"])
      + (options.refreshTokenTimeout == nil ? [] : ["token_timeout"])
  }
}
