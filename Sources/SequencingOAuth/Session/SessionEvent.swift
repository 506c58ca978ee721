/// An event of a session: a new token, a failed refresh, or the end of the session.
///
/// - SeeAlso: ``TokenRefreshDelegate``, which gets the events too.
public enum SessionEvent: Sendable {
  /// This process refreshed the token, and this is the new one.
  case refreshed(SQToken)
  /// Another process refreshed the token, and the session took it over from the store.
  case takenOver(SQToken)
  /// Another process signed a user in to the account, perhaps another user; this is the new token.
  ///
  /// Requests that still wait for a token of the earlier sign-in fail with
  /// ``SQOAuthError/Code/sessionReplaced``.
  case replaced(SQToken)
  /// A refresh brought an ID token that is of no use, for the reason in the error.
  ///
  /// The new access token is used, and the identity of the sign-in stays: the ID token names the
  /// same user, issuer and client, and says something else that the ID token of a refresh must not,
  /// such as a later login (OpenID Connect Core 1.0, section 12.2).
  case idTokenIgnored(SQOAuthError)
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

extension SessionEnd: CustomStringConvertible {
  /// The reason in words for the user, without those of the server, which are in the error.
  public var description: String {
    switch self {
    case .signedOut: "You are signed out."
    case .revoked: "The access of this app was ended."
    case .loggedOut: "You logged out at the provider."
    case .refused: "Your sign-in is no longer valid. Sign in again."
    }
  }
}
