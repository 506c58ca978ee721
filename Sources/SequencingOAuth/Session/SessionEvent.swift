/// An event of a session: a new token, a failed refresh, or the end of the session.
///
/// - SeeAlso: ``TokenRefreshDelegate``, which gets the events too.
public enum SessionEvent: Sendable {
  /// The session has a newer token, which this process or another one refreshed.
  case refreshed(SQToken)
  /// Another process signed a user in to the account, perhaps another user; this is the new token.
  ///
  /// Requests that still wait for a token of the earlier sign-in fail with
  /// ``SQOAuthError/Code/sessionReplaced``.
  case replaced(SQToken)
  /// A refresh failed, or a new token could not be stored; the session continues.
  case refreshFailed(SQOAuthError)
  /// The session has ended and has no token any more.
  case ended(SessionEnd)
}

/// The reason why a session has ended.
public enum SessionEnd: Sendable {
  /// The app signed the user out, or another process that shares the store did.
  case signedOut
  /// The app revoked the tokens.
  case revoked
  /// The user logged out at the provider, which sent a logout token.
  case loggedOut
  /// The authorization server refused the refresh token; only a new sign-in helps.
  case refused(SQOAuthError)
}
