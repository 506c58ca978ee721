/// The calls of the Sequencing.com pods whose spelling or types differ here.
///
/// If only the spelling differs, the compiler offers the new one. A parameter that is implicitly
/// unwrapped in the Objective-C pod is optional here, so that the pod's calls still compile.
extension SQOAuth {
  // MARK: The shared instance

  /// The Objective-C pod's spelling of ``shared``; never `nil`.
  @available(*, deprecated, renamed: "getter:SQOAuth.shared()")
  public static func sharedInstance() -> SQOAuth! { shared }

  /// The Swift pod's spelling of ``shared``.
  @available(*, deprecated, renamed: "shared")
  public static var instance: SQOAuth { shared }

  // MARK: The client

  // swift-format-ignore: AlwaysUseLowerCamelCase
  /// The Objective-C pod's spelling of
  /// ``registerApplicationParameters(clientID:clientSecret:redirectURI:scope:provider:)``, with the
  /// labels of Objective-C.
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

  /// The Objective-C pod's spelling of
  /// ``registerApplicationParameters(clientID:clientSecret:redirectURI:scope:provider:)``, as Swift
  /// imports it.
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

  // swift-format-ignore: AlwaysUseLowerCamelCase
  /// The Swift pod's spelling of
  /// ``registerApplicationParameters(clientID:clientSecret:redirectURI:scope:provider:)``.
  @available(
    *, deprecated,
    renamed: "registerApplicationParameters(clientID:clientSecret:redirectURI:scope:)"
  )
  public func registrateApplicationParametersClientID(
    _ clientID: String, ClientSecret clientSecret: String, RedirectUri redirectURI: String,
    Scope scope: String
  ) {
    registerApplicationParameters(
      clientID: clientID, clientSecret: clientSecret, redirectURI: redirectURI, scope: scope)
  }

  // MARK: Refreshes

  /// The pods' spelling of ``tokenRefreshDelegate``.
  @available(*, deprecated, renamed: "tokenRefreshDelegate")
  public var refreshTokenDelegate: (any TokenRefreshDelegate)? {
    get { tokenRefreshDelegate }
    set { tokenRefreshDelegate = newValue }
  }

  /// The Swift pod's spelling of ``withRefreshToken(_:updateAccessToken:)``.
  @available(*, deprecated, renamed: "withRefreshToken(_:updateAccessToken:)")
  public func updateAccessTokenWithRefreshToken(
    _ token: SQToken, tokenResult: @escaping @isolated(any) (SQToken?) -> Void
  ) {
    withRefreshToken(token, updateAccessToken: tokenResult)
  }

  /// The pods' spelling of ``launchTokenTimerUpdate(with:)``, as Swift 2 imported it.
  @available(*, deprecated, renamed: "launchTokenTimerUpdate(with:)")
  public func launchTokenTimerUpdateWithToken(_ token: SQToken?) {
    launchTokenTimerUpdate(with: token)
  }
}
