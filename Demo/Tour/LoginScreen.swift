import SequencingOAuth

/// The login screen: starts a sign-in and is the delegate that gets its result.
@MainActor
final class LoginScreen: AuthorizationDelegate {
  private let oauth: SQOAuth
  private let tell: @Sendable (Coordinator.Event) -> Void

  init(_ oauth: SQOAuth, tell: @escaping @Sendable (Coordinator.Event) -> Void) {
    self.oauth = oauth
    self.tell = tell
    oauth.authorizationDelegate = self
  }

  func signIn() {
    oauth.authorizeUser()
  }

  func cancel() {
    oauth.cancelSignIn()
  }

  // MARK: AuthorizationDelegate

  func userIsSuccessfullyAuthorized(_ token: SQToken) {
    tell(.userIsAuthorized(token))
  }

  func userIsNotAuthorized() {
    tell(.userIsNotAuthorized(.cancelled))
  }

  func userIsNotAuthorized(because error: SQOAuthError) {
    tell(.userIsNotAuthorized(.failed(code: error.code.rawValue, message: Failure(error).advised)))
  }
}
