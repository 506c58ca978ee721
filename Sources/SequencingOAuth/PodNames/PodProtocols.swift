// The delegates' protocols under their names in the Sequencing.com pods.

/// The delegate protocol of the Objective-C pod for sign-ins, with an implicitly unwrapped token.
///
/// A class that was written for the pod conforms without changes. The SDK calls it like an
/// ``AuthorizationDelegate``, and the token is never `nil`.
@available(
  *, deprecated, message: "conform to AuthorizationDelegate, and take an SQToken without the '!'"
)
public protocol SQAuthorizationProtocol: AuthorizationDelegate {
  /// Tells the delegate that the user signed in; the token is never `nil`.
  nonisolated(nonsending) func userIsSuccessfullyAuthorized(_ token: SQToken!) async
}

@available(*, deprecated)
extension SQAuthorizationProtocol {
  /// Calls the pod's method with an implicitly unwrapped token.
  public nonisolated(nonsending) func userIsSuccessfullyAuthorized(_ token: SQToken) async {
    let token: SQToken? = token
    await userIsSuccessfullyAuthorized(token)
  }
}

/// The delegate protocol of the Objective-C pod for refreshes, with an implicitly unwrapped token.
///
/// A class that was written for the pod conforms without changes. The SDK calls it like a
/// ``TokenRefreshDelegate``. The token is never `nil`, and it contains its refresh token.
@available(
  *, deprecated, message: "conform to TokenRefreshDelegate, and take an SQToken without the '!'"
)
public protocol SQTokenRefreshProtocol: TokenRefreshDelegate {
  /// Tells the delegate that the SDK got a newer token; the token is never `nil`.
  nonisolated(nonsending) func tokenIsRefreshed(_ updatedToken: SQToken!) async
}

@available(*, deprecated)
extension SQTokenRefreshProtocol {
  /// Calls the pod's method with an implicitly unwrapped token.
  public nonisolated(nonsending) func tokenIsRefreshed(_ token: SQToken) async {
    let token: SQToken? = token
    await tokenIsRefreshed(token)
  }
}

/// The Swift pod's name for the delegate protocol that receives the result of a sign-in.
@available(*, deprecated, renamed: "AuthorizationDelegate")
public typealias SQAuthorizationProtocolDelegate = AuthorizationDelegate

/// The Swift pod's name for the delegate protocol that receives later changes of the token.
@available(*, deprecated, renamed: "TokenRefreshDelegate")
public typealias SQTokenRefreshProtocolDelegate = TokenRefreshDelegate
