import SQFoundation

// How long refresh tokens and permissions last.
extension SandboxState {
  /// Adds the lifetimes of a refresh token and of its grant to a token response.
  ///
  /// The refresh token counts from now, and the grant from its first response.
  ///
  /// - SeeAlso: draft-ietf-oauth-refresh-token-expiration, section 5.1
  mutating func addingLifetimes(
    to response: SandboxJSON, refreshToken: String?, grant: Int
  ) -> SandboxJSON {
    let grantEnd =
      ledger.grants[grant].end
      ?? options.authorizationLifetime.map { now.addingTimeInterval($0.timeInterval) }
    let timeout = options.refreshTokenTimeout.map { now.addingTimeInterval($0.timeInterval) }
    let tokenEnd = timeout.map { min($0, grantEnd ?? $0) }
    ledger.end(refreshToken: refreshToken, of: grant, at: (tokenEnd, grantEnd))
    var response = response
    for (name, end) in [
      ("refresh_token_timeout", tokenEnd), ("authorization_expires_in", grantEnd),
    ] {
      if let end { response[name] = .integer(Int(end.timeIntervalSince(now))) }
    }
    return response
  }

  /// Throws if a refresh token was kept for too long, or if the user's permission has ended.
  func checkEnd(of token: TokenLedger.RefreshToken) throws(OAuthFault) {
    guard token.end.map({ $0 > now }) ?? true else {
      throw .invalidGrant("The refresh token has expired.")
    }
    guard ledger.grants[token.grant].end.map({ $0 > now }) ?? true else {
      throw .invalidGrant("The user's permission has ended.")
    }
  }

  /// The kinds of ends that responses name, for the metadata.
  var expirationTypes: [String] {
    (options.authorizationLifetime == nil ? [] : ["authorization"])
      + (options.refreshTokenTimeout == nil ? [] : ["token_timeout"])
  }
}
