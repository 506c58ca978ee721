/// Hears what becomes of the token after the sign-in.
///
/// The methods are called in the order in which things happened, each event once, and are implemented
/// as ordinary ones. Where they are called is as with ``AuthorizationDelegate``: on the delegate's
/// actor, or else on ``SQOAuth/callbackQueue``. The delegate is held weakly.
public protocol TokenRefreshDelegate: AnyObject {
  /// There is a newer token, with the refresh token that is in force.
  ///
  /// It is in the store, unless ``tokenRefreshDidFail(_:)`` is called next with
  /// ``SQOAuthError/Code/storeFailed``; then the session goes on with it in memory, and the store is
  /// tried again.
  nonisolated(nonsending) func tokenIsRefreshed(_ token: SQToken) async

  /// Another process signed a user in to the account, who may be another user; the token is that
  /// sign-in's. Calls ``tokenIsRefreshed(_:)`` unless it is implemented.
  nonisolated(nonsending) func sessionIsReplaced(_ token: SQToken) async

  /// One attempt to refresh the token, or to store it, failed; the session goes on. Does nothing
  /// unless it is implemented.
  nonisolated(nonsending) func tokenRefreshDidFail(_ error: SQOAuthError) async

  /// The session is over and its token gone. Does nothing unless it is implemented.
  nonisolated(nonsending) func sessionDidEnd(_ reason: SessionEnd) async
}

extension TokenRefreshDelegate {
  /// Makes the SDK call ``tokenIsRefreshed(_:)`` instead.
  public func sessionIsReplaced(_ token: SQToken) {
    OptionalMethod.isDefault()
  }

  /// Does nothing.
  public func tokenRefreshDidFail(_ error: SQOAuthError) {}

  /// Does nothing.
  public func sessionDidEnd(_ reason: SessionEnd) {}
}
