import SQBasics

// The end of the session: with or without a revocation of its tokens at the server.
extension AccountOperations {
  /// Revokes the refresh token and the access token at the authorization server, then forgets them.
  ///
  /// A token that the server does not know counts as revoked. If the server fails, the tokens stay,
  /// and the app can call this method again. Without a token the method sends no request. If the
  /// server revokes the refresh token but no access tokens, the access token works until it expires.
  /// What another request than that of RFC 7009 ends, ``RevocationStyle`` says: GitHub's and Slack's
  /// end only the access token, and a copy of the refresh token stays valid.
  ///
  /// - Throws: ``SQOAuthError``: ``SQOAuthError/Code/revocationUnsupported`` if the provider offers
  ///   no revocation; the server's error, with ``SQOAuthError/retryAfter`` if the server says how
  ///   long to wait; ``SQOAuthError/Code/storeFailed`` if the server has revoked the tokens, but
  ///   the store still has them; the store's error if it cannot be read: the server has revoked the
  ///   tokens in memory, and the SDK forgets the account, but newer tokens that another process has
  ///   stored stay valid; ``SQOAuthError/Code/sessionReplaced`` if another process has signed
  ///   a user in, or if another user signed in while this call waited for a refresh: the server has
  ///   revoked the tokens of the earlier sign-in, and the session continues with the new sign-in.
  /// - SeeAlso: RFC 7009
  public func revoke() async throws(SQOAuthError) {
    try await module.revoke(by: nil)
  }

  /// Forgets the token and its refresh token, in memory at once and then in the store.
  ///
  /// The server gets no request. A sign-in under way is cancelled; an operation that begins after
  /// this call is not affected.
  ///
  /// If the store fails to erase the account, the SDK tries again before it next reads the account,
  /// and in ``flush()``. If another process has signed a user in by then, that sign-in stays.
  ///
  /// - Throws: ``SQOAuthError/Code/storeFailed`` if the store still has the account.
  public func signOut() async throws(SQOAuthError) {
    try await module.forgetSession().wait().get()
  }
}

extension AuthorizationModule {
  /// Revokes the tokens with the client in `settings` or, without them, with the current client;
  /// then forgets the tokens.
  func revoke(by settings: ClientContext.Settings?) async throws(SQOAuthError) {
    var isRevoked = false
    do throws(SQOAuthError) {
      try await session.end(.revoked) { record throws(SQOAuthError) in
        // The session may have newer tokens to revoke after the first ones.
        isRevoked = false
        try await context.revoke(record, by: settings)
        isRevoked = true
      }
    } catch {
      guard isRevoked else { throw error }
      var error = error
      let result =
        error.code == .sessionReplaced
        ? "the server has revoked the tokens of the earlier sign-in"
        : "the server has revoked the tokens, but the store may still have them or newer ones"
      error.message = "\(result): \(error.message)"
      throw error
    }
  }

  /// Cancels the sign-in under way and forgets the token; callers that wait for a token start no
  /// sign-in.
  ///
  /// The token leaves memory at once, and leaves the store when the returned write is done. An
  /// operation that begins after this call is not affected.
  @discardableResult
  func forgetSession() -> StoreWrites.PendingWrite {
    // The session ends first, so that no waiting caller starts a sign-in after the others are
    // cancelled. Its observers learn that last, because they may start a sign-in that must stay.
    session.end(.signedOut) {
      signIns.dismissWaiting()
      signIns.cancel()
    }
  }
}
