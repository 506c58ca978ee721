/// Hears how a sign-in ended: exactly one of its methods is called, once for each sign-in.
///
/// The methods are called on ``SQOAuth/callbackQueue``, a private serial queue unless the app set
/// another. The delegate is held weakly. A `@MainActor` screen conforms with `nonisolated` methods
/// and hops to the main actor inside them.
public protocol AuthorizationDelegate: AnyObject, Sendable {
  /// The user signed in; the token is the one that ``SQAuthResult/token`` returns.
  func userIsSuccessfullyAuthorized(_ token: SQToken)

  /// The user did not sign in.
  func userIsNotAuthorized()

  /// The sign-in failed; calls ``userIsNotAuthorized()`` unless it is implemented.
  func userIsNotAuthorized(because error: SQOAuthError)

  /// The user said no, did not come back in time, or the app cancelled; calls
  /// ``userIsNotAuthorized()`` unless it is implemented.
  func userDidCancelAuthorization()
}

extension AuthorizationDelegate {
  /// Calls ``userIsNotAuthorized()``.
  public func userIsNotAuthorized(because error: SQOAuthError) {
    userIsNotAuthorized()
  }

  /// Calls ``userIsNotAuthorized()``.
  public func userDidCancelAuthorization() {
    userIsNotAuthorized()
  }
}
