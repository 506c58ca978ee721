// The spellings of the Sequencing.com pods, so that code which used them compiles with a fix-it.

/// The pod's name of ``AuthorizationDelegate``.
@available(*, deprecated, renamed: "AuthorizationDelegate")
public typealias SQAuthorizationProtocol = AuthorizationDelegate

/// The Swift pod's name of ``AuthorizationDelegate``.
@available(*, deprecated, renamed: "AuthorizationDelegate")
public typealias SQAuthorizationProtocolDelegate = AuthorizationDelegate

/// The pod's name of ``TokenRefreshDelegate``.
@available(*, deprecated, renamed: "TokenRefreshDelegate")
public typealias SQTokenRefreshProtocol = TokenRefreshDelegate

/// The Swift pod's name of ``TokenRefreshDelegate``.
@available(*, deprecated, renamed: "TokenRefreshDelegate")
public typealias SQTokenRefreshProtocolDelegate = TokenRefreshDelegate

extension SQOAuth {
  /// The pod's name of ``shared``.
  @available(*, deprecated, renamed: "shared")
  public static func sharedInstance() -> SQOAuth { shared }

  /// The Swift pod's name of ``shared``.
  @available(*, deprecated, renamed: "shared")
  public static var instance: SQOAuth { shared }

  // swift-format-ignore: AlwaysUseLowerCamelCase
  /// The pod's name of ``registerApplicationParameters(clientID:clientSecret:redirectURI:scope:provider:)``.
  @available(
    *, deprecated,
    renamed: "registerApplicationParameters(clientID:clientSecret:redirectURI:scope:)"
  )
  public func registrateApplicationParametersCliendID(
    _ clientID: String, ClientSecret clientSecret: String, RedirectUri redirectURI: String,
    Scope scope: String
  ) {
    registerApplicationParameters(
      clientID: clientID, clientSecret: clientSecret, redirectURI: redirectURI, scope: scope)
  }

  /// The pod's name as Swift imports it.
  @available(
    *, deprecated,
    renamed: "registerApplicationParameters(clientID:clientSecret:redirectURI:scope:)"
  )
  public func registrateApplicationParametersCliendID(
    _ clientID: String, clientSecret: String, redirectUri: String, scope: String
  ) {
    registerApplicationParameters(
      clientID: clientID, clientSecret: clientSecret, redirectURI: redirectUri, scope: scope)
  }

  /// The pod's name of ``tokenRefreshDelegate``.
  @available(*, deprecated, renamed: "tokenRefreshDelegate")
  public var refreshTokenDelegate: (any TokenRefreshDelegate)? {
    get { tokenRefreshDelegate }
    set { tokenRefreshDelegate = newValue }
  }

  /// The pod's name of ``launchTokenTimerUpdate(with:)``.
  @available(*, deprecated, renamed: "launchTokenTimerUpdate(with:)")
  public func launchTokenTimerUpdateWithToken(_ token: SQToken) {
    launchTokenTimerUpdate(with: token)
  }

  /// The Swift pod's name of ``withRefreshToken(_:updateAccessToken:)``; the completion gets the
  /// token, or `nil`.
  @available(*, deprecated, renamed: "withRefreshToken(_:updateAccessToken:)")
  public func updateAccessTokenWithRefreshToken(
    _ token: SQToken, tokenResult: @escaping @Sendable (SQToken?) -> Void
  ) {
    withRefreshToken(token) { tokenResult(try? $0.get()) }
  }
}

extension SQAuthResult {
  /// The pod's name of ``shared``.
  @available(*, deprecated, renamed: "shared")
  public static func sharedInstance() -> SQAuthResult { shared }
}
