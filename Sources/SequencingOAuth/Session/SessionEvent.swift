/// What happens to a session between one sign-in and the next.
///
/// - SeeAlso: ``TokenRefreshDelegate``, which hears the same.
public enum SessionEvent: Sendable {
  /// There is a newer token: it was refreshed here, or another process did it.
  case refreshed(SQToken)
  /// Another process signed a user in to the account, who may be another user; the token is that
  /// sign-in's.
  ///
  /// Requests that still waited for a token of the sign-in before fail with
  /// ``SQOAuthError/Code/sessionReplaced``.
  case replaced(SQToken)
  /// One attempt to refresh failed, or its token could not be stored; the session goes on.
  case refreshFailed(SQOAuthError)
  /// The session is over and its token gone.
  case ended(SessionEnd)
}

/// Why a session is over.
public enum SessionEnd: Sendable {
  /// The app signed the user out, or another process that shares the store did.
  case signedOut
  /// The app had the tokens revoked.
  case revoked
  /// The authorization server refused the refresh token; only a new sign-in helps.
  case refused(SQOAuthError)
}
