public import SQFoundation

/// An event of a session: a new token, a failed refresh, or the end of the session.
///
/// A later version may add cases, so write a `default` in a `switch`.
///
/// - SeeAlso: ``TokenRefreshDelegate``, for the same events except ``idTokenIgnored(_:)``
public enum SessionEvent: Sendable {
  /// This process refreshed the token.
  ///
  /// The value is the new token.
  case refreshed(SQToken)
  /// Another process refreshed the token, and the session took the new token over from the store.
  case takenOver(SQToken)
  /// Another process signed a user in to the account, perhaps a different user.
  ///
  /// The value is the new token.
  ///
  /// Requests that still wait for a token of the earlier sign-in fail with
  /// ``SQOAuthError/Code/sessionReplaced``, unless the ID tokens show that the user is the same.
  case replaced(SQToken)
  /// A refresh returned an ID token that was ignored, for the reason in the error.
  ///
  /// The new access token is used, and the identity from the sign-in does not change. Either the ID
  /// token could not be read, or it contains something that the ID token of a refresh must not
  /// contain, such as a later login (OpenID Connect Core 1.0, section 12.2). An ID token of another
  /// user, issuer or client is not ignored: the refresh fails.
  case idTokenIgnored(SQOAuthError)
  /// The sign-in ends soon, at this date; ask the user to sign in again.
  ///
  /// The date is the earlier one of ``SQToken/refreshTokenExpirationDate`` and
  /// ``SQToken/authorizationExpirationDate``. The event comes ``ClientConfiguration/endNotice``
  /// before that date (one day by default), but not before nine tenths of the lifetime that the
  /// server named have passed. Each process reports a date once, even for an account from a store,
  /// and reports again only if the server names a later date. There is no event for a grant that
  /// the client can repeat without a user.
  case endsSoon(Date)
  /// A refresh failed, or a token could not be stored or loaded; a running session continues.
  case refreshFailed(SQOAuthError)
  /// The session has ended and no longer has a token.
  case ended(SessionEnd)
}

/// The reason for the end of a session.
///
/// A later version may add cases, so write a `default` in a `switch`.
public enum SessionEnd: Sendable {
  /// The app signed the user out, or another process that shares the store did.
  case signedOut
  /// The app revoked the tokens.
  case revoked
  /// The user logged out at the provider, and the provider sent a logout token.
  case loggedOut
  /// A refresh failed for good, so the user must sign in again.
  ///
  /// The authorization server refused the refresh token, or its new ID token names another user or
  /// issuer. The error's code says which.
  case refused(SQOAuthError)
}

extension SessionEnd: CustomStringConvertible {
  /// The reason as a text for the user.
  ///
  /// The server's own words are only in the error.
  public var description: String {
    switch self {
    case .signedOut: "You are signed out."
    case .revoked: "The access of this app was ended."
    case .loggedOut: "You logged out at the provider."
    case .refused: "Your sign-in is no longer valid. Sign in again."
    }
  }
}
