// The delegates' protocols as the Sequencing.com pods name them.

/// The Objective-C pod's protocol of ``AuthorizationDelegate``, whose token is implicitly unwrapped.
///
/// A class that was written for the pod conforms as it is. Where the class is called is as with
/// ``AuthorizationDelegate``, and the token is never `nil`.
@available(
  *, deprecated, message: "conform to AuthorizationDelegate, and take an SQToken without the '!'"
)
public protocol SQAuthorizationProtocol: AuthorizationDelegate {
  /// The user signed in.
  nonisolated(nonsending) func userIsSuccessfullyAuthorized(_ token: SQToken!) async
}

@available(*, deprecated)
extension SQAuthorizationProtocol {
  /// Calls the method that takes an implicitly unwrapped token.
  public nonisolated(nonsending) func userIsSuccessfullyAuthorized(_ token: SQToken) async {
    let token: SQToken? = token
    await userIsSuccessfullyAuthorized(token)
  }
}

/// The Objective-C pod's protocol of ``TokenRefreshDelegate``, whose token is implicitly unwrapped.
///
/// A class that was written for the pod conforms as it is. Where the class is called is as with
/// ``TokenRefreshDelegate``, and the token is never `nil`; it has its refresh token.
@available(
  *, deprecated, message: "conform to TokenRefreshDelegate, and take an SQToken without the '!'"
)
public protocol SQTokenRefreshProtocol: TokenRefreshDelegate {
  /// There is a newer token.
  nonisolated(nonsending) func tokenIsRefreshed(_ updatedToken: SQToken!) async
}

@available(*, deprecated)
extension SQTokenRefreshProtocol {
  /// Calls the method that takes an implicitly unwrapped token.
  public nonisolated(nonsending) func tokenIsRefreshed(_ token: SQToken) async {
    let token: SQToken? = token
    await tokenIsRefreshed(token)
  }
}

/// The Swift pod's name of ``AuthorizationDelegate``.
@available(*, deprecated, renamed: "AuthorizationDelegate")
public typealias SQAuthorizationProtocolDelegate = AuthorizationDelegate

/// The Swift pod's name of ``TokenRefreshDelegate``.
@available(*, deprecated, renamed: "TokenRefreshDelegate")
public typealias SQTokenRefreshProtocolDelegate = TokenRefreshDelegate
