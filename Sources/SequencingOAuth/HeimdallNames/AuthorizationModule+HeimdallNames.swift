// The names that operations of this SDK have in the library Heimdall.
extension AuthorizationModule {
  /// Whether a token is in memory, expired or not; ``AccountOperations/restore()`` reads the store.
  ///
  /// It has this name for apps that were written for the library Heimdall.
  public var hasAccessToken: Bool { currentToken != nil }

  /// Forgets the token and its refresh token, like ``AccountOperations/signOut()``.
  ///
  /// It has this name for apps that were written for the library Heimdall.
  public func clearAccessToken() async throws(SQOAuthError) {
    try await signOut()
  }

  /// Forgets the token and its refresh token, like ``AccountOperations/signOut(_:)``.
  ///
  /// It has this name for apps that were written for the library Heimdall.
  public func clearAccessToken(
    _ completion: @escaping @isolated(any) (Result<Void, SQOAuthError>) -> Void
  ) {
    signOut(completion)
  }
}
