// What an app does next depends on these, so a server cannot claim one of the SDK's own codes: they
// count only where no error response came with them.
extension SQOAuthError {
  /// Whether the sign-in ended by the user's or the app's will, and not by a failure.
  ///
  /// True for ``Code/accessDenied``, ``Code/cancelled`` and ``Code/timedOut``. A sign-in whose time
  /// ran out while other programs crowded the redirect's port is ``Code/redirectUnavailable``.
  public var isCancellation: Bool {
    switch code {
    case .accessDenied: true
    case .cancelled, .timedOut: response == nil
    default: false
    }
  }

  /// Whether only a new sign-in can help: the server refused what the session lives on.
  ///
  /// True for ``Code/invalidGrant``, for ``Code/notAuthorized``, and for ``Code/requestRefused``,
  /// which is a refusal by the token endpoint that carries no OAuth error.
  public var requiresSignIn: Bool {
    switch code {
    case .invalidGrant: true
    case .notAuthorized, .requestRefused: response == nil
    default: false
    }
  }
}
