/// Hears how a sign-in ended: exactly one of its methods is called, once for each sign-in.
///
/// Implement the methods as ordinary ones, in any class:
///
/// ```swift
/// final class LoginScreen: AuthorizationDelegate {
///   var token: SQToken?
///   func userIsSuccessfullyAuthorized(_ token: SQToken) { self.token = token }
///   func userIsNotAuthorized() { token = nil }
/// }
/// ```
///
/// A delegate that belongs to an actor is called there: an `actor`, and a class of the main actor or of
/// another global actor. Any other delegate is called on ``SQOAuth/callbackQueue``, which is the main
/// queue unless the app sets another. A method may also be `async`; the next call waits for its end.
/// The delegate is held weakly.
public protocol AuthorizationDelegate: AnyObject {
  /// The user signed in; the token is the one that ``SQAuthResult/token`` returns.
  nonisolated(nonsending) func userIsSuccessfullyAuthorized(_ token: SQToken) async

  /// The user did not sign in.
  nonisolated(nonsending) func userIsNotAuthorized() async

  /// The sign-in failed; calls ``userIsNotAuthorized()`` unless it is implemented.
  nonisolated(nonsending) func userIsNotAuthorized(because error: SQOAuthError) async

  /// The user said no, did not come back in time, or the app cancelled; calls
  /// ``userIsNotAuthorized()`` unless it is implemented.
  nonisolated(nonsending) func userDidCancelAuthorization() async
}

extension AuthorizationDelegate {
  /// Makes the SDK call ``userIsNotAuthorized()`` instead.
  public func userIsNotAuthorized(because error: SQOAuthError) {
    OptionalMethod.isDefault()
  }

  /// Makes the SDK call ``userIsNotAuthorized()`` instead.
  public func userDidCancelAuthorization() {
    OptionalMethod.isDefault()
  }
}
