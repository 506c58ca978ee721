/// Sign-ins on another device, such as a phone, for programs without a browser.
extension SQOAuth {
  /// Signs the user in on another device; the ``authorizationDelegate`` shows the code and then
  /// gets the result.
  ///
  /// The delegate must implement ``AuthorizationDelegate/userMustEnterCode(_:)``; otherwise the
  /// sign-in fails with ``SQOAuthError/Code/invalidConfiguration``. If a sign-in on another device
  /// is under way, this call joins it.
  ///
  /// - SeeAlso: RFC 8628
  public func authorizeUserWithDeviceCode() {
    module.startSignIn(SignIn.Wish(place: .otherDevice))
  }

  /// Signs the user in on another device, with options for this sign-in only.
  ///
  /// See ``authorizeUserWithDeviceCode()`` and
  /// ``AuthorizationModule/signInWithDeviceCode(with:show:)``.
  public func authorizeUserWithDeviceCode(with options: SignInOptions) {
    module.startSignIn(SignIn.Wish(place: .otherDevice, options: options))
  }

  /// Signs the user in on another device, or joins the device sign-in under way.
  ///
  /// The ``authorizationDelegate`` is called too. See
  /// ``AuthorizationModule/signInWithDeviceCode(show:)``.
  @discardableResult
  public func signInWithDeviceCode(
    show: @escaping @isolated(any) (DeviceAuthorization) -> Void
  ) async throws(SQOAuthError) -> SQToken {
    try await module.signInWithDeviceCode(show: show)
  }

  /// Signs the user in on another device, with options for this sign-in only.
  ///
  /// See ``AuthorizationModule/signInWithDeviceCode(with:show:)``.
  @discardableResult
  public func signInWithDeviceCode(
    with options: SignInOptions,
    show: @escaping @isolated(any) (DeviceAuthorization) -> Void
  ) async throws(SQOAuthError) -> SQToken {
    try await module.signInWithDeviceCode(with: options, show: show)
  }

  /// Gets a valid token: the current one, a refreshed one, or one from a sign-in on another device.
  ///
  /// See ``AuthorizationModule/requestAccessWithDeviceCode(show:)``.
  @discardableResult
  public func requestAccessWithDeviceCode(
    show: @escaping @isolated(any) (DeviceAuthorization) -> Void
  ) async throws(SQOAuthError) -> SQToken {
    try await module.requestAccessWithDeviceCode(show: show)
  }

  // MARK: With completions

  /// Signs the user in on another device, or joins the device sign-in under way.
  ///
  /// `show` is called before `completion`; see ``signInWithDeviceCode(show:)``.
  public func signInWithDeviceCode(
    show: @escaping @isolated(any) (DeviceAuthorization) -> Void,
    completion: @escaping @isolated(any) (Result<SQToken, SQOAuthError>) -> Void
  ) {
    module.signInWithDeviceCode(show: show, completion: completion)
  }

  /// Signs the user in on another device, with options for this sign-in only.
  ///
  /// `show` is called before `completion`; see ``signInWithDeviceCode(with:show:)``.
  public func signInWithDeviceCode(
    with options: SignInOptions,
    show: @escaping @isolated(any) (DeviceAuthorization) -> Void,
    completion: @escaping @isolated(any) (Result<SQToken, SQOAuthError>) -> Void
  ) {
    module.signInWithDeviceCode(with: options, show: show, completion: completion)
  }

  /// Gets a valid token: the current one, a refreshed one, or one from a sign-in on another device.
  ///
  /// `show` is called before `completion`, and only if the user must sign in; see
  /// ``requestAccessWithDeviceCode(show:)``.
  public func requestAccessWithDeviceCode(
    show: @escaping @isolated(any) (DeviceAuthorization) -> Void,
    completion: @escaping @isolated(any) (Result<SQToken, SQOAuthError>) -> Void
  ) {
    module.requestAccessWithDeviceCode(show: show, completion: completion)
  }
}
