/// Hears what becomes of the token after the sign-in.
///
/// The methods are called on ``SQOAuth/callbackQueue``, in the order in which things happened, each
/// event once. The delegate is held weakly.
public protocol TokenRefreshDelegate: AnyObject, Sendable {
  /// There is a newer token; it has the refresh token that is in force, and it is stored.
  func tokenIsRefreshed(_ token: SQToken)

  /// Another process signed a user in to the account, who may be another user; the token is that
  /// sign-in's. Calls ``tokenIsRefreshed(_:)`` unless it is implemented.
  func sessionIsReplaced(_ token: SQToken)

  /// One attempt to refresh the token, or to store it, failed; the session goes on. Does nothing
  /// unless it is implemented.
  func tokenRefreshDidFail(_ error: SQOAuthError)

  /// The session is over and its token gone. Does nothing unless it is implemented.
  func sessionDidEnd(_ reason: SessionEnd)
}

extension TokenRefreshDelegate {
  /// Calls ``tokenIsRefreshed(_:)``.
  public func sessionIsReplaced(_ token: SQToken) {
    tokenIsRefreshed(token)
  }

  /// Does nothing.
  public func tokenRefreshDidFail(_ error: SQOAuthError) {}

  /// Does nothing.
  public func sessionDidEnd(_ reason: SessionEnd) {}
}
