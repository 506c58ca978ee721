// Sign-ins whose outcome goes to the delegate.
extension SQOAuth {
  /// Signs the user in with the browser.
  ///
  /// The ``authorizationDelegate`` gets the result. If a sign-in is under way, this call joins it;
  /// but it waits for the end of a silent sign-in, and then starts a new one.
  public func authorizeUser() {
    module.startSignIn(SignIn.Request())
  }

  /// Signs the user in with the browser, with options for this sign-in only.
  ///
  /// The ``authorizationDelegate`` gets the result. If a sign-in with other options is under way,
  /// the delegate gets ``SQOAuthError/Code/signInUnderWay``.
  public func authorizeUser(with options: SignInOptions) {
    module.startSignIn(SignIn.Request(place: .browser, options: options))
  }

  /// Signs the user in on another device; the ``authorizationDelegate`` shows the code and then
  /// gets the result.
  ///
  /// The delegate must implement ``AuthorizationDelegate/userMustEnterCode(_:)``. If it does not, or
  /// if there is no delegate when the code arrives, the sign-in fails with
  /// ``SQOAuthError/Code/invalidConfiguration``, unless another caller shows the code. If a sign-in
  /// on another device is under way, this call joins it.
  ///
  /// - SeeAlso: RFC 8628
  public func authorizeUserWithDeviceCode() {
    module.startSignIn(SignIn.Request(place: .otherDevice))
  }

  /// Signs the user in on another device, with options for this sign-in only.
  ///
  /// The ``authorizationDelegate`` shows the code and then gets the result, as after
  /// ``authorizeUserWithDeviceCode()``. For the options, see
  /// ``AccountOperations/signInWithDeviceCode(with:show:)``.
  public func authorizeUserWithDeviceCode(with options: SignInOptions) {
    module.startSignIn(SignIn.Request(place: .otherDevice, options: options))
  }
}
