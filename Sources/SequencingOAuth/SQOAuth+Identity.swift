/// The user's identity, and the logout at the provider.
extension SQOAuth {
  /// Returns the validated ID token, which says who signed in, or throws the reason why there is
  /// none.
  ///
  /// See ``AuthorizationModule/idToken()``.
  public func idToken() async throws(SQOAuthError) -> IDToken {
    try await module.idToken()
  }

  /// Gets the signed-in user's claims from the provider's UserInfo endpoint.
  ///
  /// See ``AuthorizationModule/userInfo()``.
  public func userInfo() async throws(SQOAuthError) -> UserInfo {
    try await module.userInfo()
  }

  /// Returns the provider's endpoints and capabilities, from the configuration or from its metadata
  /// document.
  ///
  /// See ``AuthorizationModule/providerMetadata()``.
  public func providerMetadata() async throws(SQOAuthError) -> ProviderMetadata {
    try await module.providerMetadata()
  }

  /// Forgets the tokens, and logs the user out at the provider in the browser.
  ///
  /// See ``AuthorizationModule/endSession(revokesTokens:logoutHint:uiLocales:)``.
  public func endSession(
    revokesTokens: Bool = false, logoutHint: String? = nil, uiLocales: [String] = []
  ) async throws(SQOAuthError) {
    try await module.endSession(
      revokesTokens: revokesTokens, logoutHint: logoutHint, uiLocales: uiLocales)
  }
}
