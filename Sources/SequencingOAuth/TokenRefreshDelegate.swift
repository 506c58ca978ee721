public import SQFoundation

/// Methods that the SDK calls when the token changes or a refresh fails, after the sign-in.
///
/// The SDK calls the methods in the order of the events, once for each event. Your methods need
/// neither `async` nor `nonisolated(nonsending)`. A delegate that belongs to an actor is called on
/// that actor, any other delegate on ``AccountOperations/callbackQueue``. The SDK holds the
/// delegate weakly.
///
/// If the delegate does not implement an optional method, the SDK calls another one or none, as the
/// method's description says. A delegate may pass the SDK's calls on to another delegate: if that
/// delegate does not implement a method, the SDK calls the other one when the first delegate's
/// method has returned.
public protocol TokenRefreshDelegate: AnyObject {
  /// Tells the delegate that the SDK got a newer token, with the newest refresh token.
  ///
  /// The token is in the store, unless ``tokenRefreshDidFail(_:)`` is called next with the store's
  /// error, such as ``SQOAuthError/Code/storeFailed``. Then the session continues with the token in
  /// memory, and the SDK tries the store again.
  nonisolated(nonsending) func tokenIsRefreshed(_ token: SQToken) async

  /// Tells the delegate that another process refreshed the token, and that the SDK read it from the
  /// store.
  ///
  /// If the delegate does not implement this method, the SDK calls ``tokenIsRefreshed(_:)``.
  nonisolated(nonsending) func tokenIsTakenOver(_ token: SQToken) async

  /// Tells the delegate that another process signed a user in to the account.
  ///
  /// It may be a different user; the token is from that sign-in. If the delegate does not implement
  /// this method, the SDK calls ``tokenIsRefreshed(_:)``.
  nonisolated(nonsending) func sessionIsReplaced(_ token: SQToken) async

  /// Tells the delegate that the SDK could not refresh, store or load the token; a running session
  /// continues.
  ///
  /// By default this does nothing.
  nonisolated(nonsending) func tokenRefreshDidFail(_ error: SQOAuthError) async

  /// Tells the delegate that the sign-in ends soon, at `date`, unless the user signs in again.
  ///
  /// ``SessionEvent/endsSoon(_:)`` says when it is called. By default this does nothing.
  nonisolated(nonsending) func sessionEndsSoon(_ date: Date) async

  /// Tells the delegate that the session has ended and its token is gone.
  ///
  /// By default this does nothing.
  nonisolated(nonsending) func sessionDidEnd(_ reason: SessionEnd) async
}

extension TokenRefreshDelegate {
  /// Makes the SDK call ``tokenIsRefreshed(_:)`` when another process refreshed the token.
  public func tokenIsTakenOver(_ token: SQToken) {
    OptionalMethod.tokenIsTakenOver.isInherited(by: self) { await self.tokenIsRefreshed(token) }
  }

  /// Makes the SDK call ``tokenIsRefreshed(_:)`` when another process signed a user in.
  public func sessionIsReplaced(_ token: SQToken) {
    OptionalMethod.sessionIsReplaced.isInherited(by: self) { await self.tokenIsRefreshed(token) }
  }

  /// Ignores a failed attempt to refresh, store or load the token.
  public func tokenRefreshDidFail(_ error: SQOAuthError) {}

  /// Ignores that the sign-in ends soon.
  public func sessionEndsSoon(_ date: Date) {}

  /// Ignores the end of the session.
  public func sessionDidEnd(_ reason: SessionEnd) {}
}
