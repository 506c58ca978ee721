// The delegates' protocols under the names that the Sequencing.com pods give them.

/// The delegate protocol of the Objective-C pod for sign-ins; its token is implicitly unwrapped.
///
/// A class that was written for the pod conforms without changes. The SDK calls it as it calls an
/// ``AuthorizationDelegate``, and the token is never `nil`.
@available(
  *, deprecated, message: "conform to AuthorizationDelegate, and take an SQToken without the '!'"
)
public protocol SQAuthorizationProtocol: AuthorizationDelegate {
  /// The user signed in; the token is never `nil`.
  nonisolated(nonsending) func userIsSuccessfullyAuthorized(_ token: SQToken!) async
}

@available(*, deprecated)
extension SQAuthorizationProtocol {
  /// Calls the pod's method, which takes an implicitly unwrapped token.
  public nonisolated(nonsending) func userIsSuccessfullyAuthorized(_ token: SQToken) async {
    let token: SQToken? = token
    await userIsSuccessfullyAuthorized(token)
  }
}

/// The delegate protocol of the Objective-C pod for refreshes; its token is implicitly unwrapped.
///
/// A class that was written for the pod conforms without changes. The SDK calls it as it calls a
/// ``TokenRefreshDelegate``. The token is never `nil`, and it contains its refresh token.
@available(
  *, deprecated, message: "conform to TokenRefreshDelegate, and take an SQToken without the '!'"
)
public protocol SQTokenRefreshProtocol: TokenRefreshDelegate {
  /// The SDK got a newer token, which is never `nil`.
  nonisolated(nonsending) func tokenIsRefreshed(_ updatedToken: SQToken!) async
}

@available(*, deprecated)
extension SQTokenRefreshProtocol {
  /// Calls the pod's method, which takes an implicitly unwrapped token.
  public nonisolated(nonsending) func tokenIsRefreshed(_ token: SQToken) async {
    let token: SQToken? = token
    await tokenIsRefreshed(token)
  }
}

/// Learns how a sign-in ended: the Swift pod's name for ``AuthorizationDelegate``.
@available(*, deprecated, renamed: "AuthorizationDelegate")
public typealias SQAuthorizationProtocolDelegate = AuthorizationDelegate

/// Learns what happens to the token after the sign-in: the Swift pod's name for
/// ``TokenRefreshDelegate``.
@available(*, deprecated, renamed: "TokenRefreshDelegate")
public typealias SQTokenRefreshProtocolDelegate = TokenRefreshDelegate
