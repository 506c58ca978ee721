// The spellings of the Sequencing.com pods, so that code which used them compiles with a fix-it.

/// The pod's name of ``AuthorizationDelegate``.
@available(*, deprecated, renamed: "AuthorizationDelegate")
public typealias SQAuthorizationProtocol = AuthorizationDelegate

/// The Swift pod's name of ``AuthorizationDelegate``.
@available(*, deprecated, renamed: "AuthorizationDelegate")
public typealias SQAuthorizationProtocolDelegate = AuthorizationDelegate

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
}

extension SQAuthResult {
  /// The pod's name of ``shared``.
  @available(*, deprecated, renamed: "shared")
  public static func sharedInstance() -> SQAuthResult { shared }
}
