/// Grants that need no browser; the ``module`` performs them.
extension SQOAuth {
  /// Exchanges a user's name and password for a token, if the configuration allows it.
  ///
  /// See ``AuthorizationModule/requestAccessToken(username:password:scope:)``.
  @discardableResult
  public func requestAccessToken(
    username: String, password: String, scope: String? = nil
  ) async throws(SQOAuthError) -> SQToken {
    try await module.requestAccessToken(username: username, password: password, scope: scope)
  }

  /// Gets a token in the client's own name.
  ///
  /// See ``AuthorizationModule/requestAccessTokenAsClient(scope:)``.
  @discardableResult
  public func requestAccessTokenAsClient(
    scope: String? = nil
  ) async throws(SQOAuthError) -> SQToken {
    try await module.requestAccessTokenAsClient(scope: scope)
  }

  /// Exchanges an assertion signed with the client's key for a token.
  ///
  /// See ``AuthorizationModule/requestAccessToken(asserting:scope:)``.
  @discardableResult
  public func requestAccessToken(
    asserting assertion: JWTAssertion, scope: String? = nil
  ) async throws(SQOAuthError) -> SQToken {
    try await module.requestAccessToken(asserting: assertion, scope: scope)
  }

  /// Gets a token by an extension grant.
  ///
  /// See ``AuthorizationModule/requestAccessToken(grantType:parameters:scope:)``.
  @discardableResult
  public func requestAccessToken(
    grantType: String, parameters: [String: String] = [:], scope: String? = nil
  ) async throws(SQOAuthError) -> SQToken {
    try await module.requestAccessToken(
      grantType: grantType, parameters: parameters, scope: scope)
  }

  /// Exchanges a token for one with a different type or for a different service.
  ///
  /// See ``AuthorizationModule/exchangeToken(_:)``.
  public func exchangeToken(
    _ exchange: TokenExchange
  ) async throws(SQOAuthError) -> ExchangedToken {
    try await module.exchangeToken(exchange)
  }
}
