/// Methods and properties of the Sequencing.com pods whose spelling or type differs in this SDK.
///
/// If only the spelling differs, the compiler suggests the new spelling. A parameter that is
/// implicitly unwrapped in the Objective-C pod is optional here, so that code written for the pod
/// still compiles.
extension SQOAuth {
  // MARK: The shared instance

  /// Returns the shared instance, in the Objective-C pod's spelling; never `nil`.
  @available(*, deprecated, renamed: "getter:SQOAuth.shared()")
  public static func sharedInstance() -> SQOAuth! { shared }

  /// The instance for apps with one account, in the Swift pod's spelling.
  @available(*, deprecated, renamed: "shared")
  public static var instance: SQOAuth { shared }

  // MARK: The client

  // swift-format-ignore: AlwaysUseLowerCamelCase
  /// Sets the client that signs users in, under the Objective-C pod's name and with its labels.
  ///
  /// See
  /// ``registerApplicationParameters(clientID:clientSecret:redirectURI:redirectReceiver:scope:provider:)``.
  @available(
    *, deprecated,
    message: "call registerApplicationParameters with the provider, .sequencing"
  )
  public func registrateApplicationParametersCliendID(
    _ clientID: String, ClientSecret clientSecret: String, RedirectUri redirectURI: String,
    Scope scope: String
  ) {
    registerApplicationParameters(
      clientID: clientID, clientSecret: clientSecret, redirectURI: redirectURI, scope: scope,
      provider: .sequencing)
  }

  /// Sets the client that signs users in, under the Objective-C pod's name as Swift imports it.
  ///
  /// See
  /// ``registerApplicationParameters(clientID:clientSecret:redirectURI:redirectReceiver:scope:provider:)``.
  @available(
    *, deprecated,
    message: "call registerApplicationParameters with the provider, .sequencing"
  )
  public func registrateApplicationParametersCliendID(
    _ clientID: String, clientSecret: String, redirectUri: String, scope: String
  ) {
    registerApplicationParameters(
      clientID: clientID, clientSecret: clientSecret, redirectURI: redirectUri, scope: scope,
      provider: .sequencing)
  }

  // swift-format-ignore: AlwaysUseLowerCamelCase
  /// Sets the client that signs users in; the method is spelled as in the Swift pod.
  ///
  /// See
  /// ``registerApplicationParameters(clientID:clientSecret:redirectURI:redirectReceiver:scope:provider:)``.
  @available(
    *, deprecated,
    message: "call registerApplicationParameters with the provider, .sequencing"
  )
  public func registrateApplicationParametersClientID(
    _ clientID: String, ClientSecret clientSecret: String, RedirectUri redirectURI: String,
    Scope scope: String
  ) {
    registerApplicationParameters(
      clientID: clientID, clientSecret: clientSecret, redirectURI: redirectURI, scope: scope,
      provider: .sequencing)
  }

  // MARK: Refreshes

  /// The delegate that receives later changes of the token, in the pods' spelling.
  ///
  /// See ``tokenRefreshDelegate``.
  @available(*, deprecated, renamed: "tokenRefreshDelegate")
  public var refreshTokenDelegate: (any TokenRefreshDelegate)? {
    get { tokenRefreshDelegate }
    set { tokenRefreshDelegate = newValue }
  }

  /// Refreshes a token that the app has stored, in the Swift pod's spelling.
  ///
  /// See ``withRefreshToken(_:updateAccessToken:)``.
  @available(*, deprecated, renamed: "withRefreshToken(_:updateAccessToken:)")
  public func updateAccessTokenWithRefreshToken(
    _ token: SQToken, tokenResult: @escaping @isolated(any) (SQToken?) -> Void
  ) {
    withRefreshToken(token, updateAccessToken: tokenResult)
  }

  /// Continues with a token that the app has stored, in the pods' spelling as imported by Swift 2.
  ///
  /// See ``launchTokenTimerUpdate(with:)``.
  @available(*, deprecated, renamed: "launchTokenTimerUpdate(with:)")
  public func launchTokenTimerUpdateWithToken(_ token: SQToken?) {
    launchTokenTimerUpdate(with: token)
  }
}
