/// Who the user is, and the logout at the provider; the ``module`` does the work.
extension SQOAuth {
  /// Says who signed in, by the verified ID token, or why that is not known.
  ///
  /// See ``AuthorizationModule/idToken()``.
  public func idToken() async throws(SQOAuthError) -> IDToken {
    try await module.idToken()
  }

  /// Asks the provider's UserInfo endpoint about the user who is signed in.
  ///
  /// See ``AuthorizationModule/userInfo()``.
  public func userInfo() async throws(SQOAuthError) -> UserInfo {
    try await module.userInfo()
  }

  /// The provider's endpoints and abilities, as the app gave them or as its metadata names them.
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
