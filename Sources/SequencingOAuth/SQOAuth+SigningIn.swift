/// Signs the user in and out.
extension SQOAuth {
  /// Signs the user in with the browser.
  ///
  /// The ``authorizationDelegate`` gets the result. If a sign-in is under way, this call joins it.
  public func authorizeUser() {
    module.startSignIn(SignIn.Wish())
  }

  /// Signs the user in with the browser, with options for this sign-in only.
  ///
  /// The ``authorizationDelegate`` gets the result. If a sign-in with other options is under way,
  /// the delegate gets ``SQOAuthError/Code/signInUnderWay``.
  public func authorizeUser(with options: SignInOptions) {
    module.startSignIn(SignIn.Wish(place: .browser, options: options))
  }

  /// Signs the user in with the browser, or joins the sign-in under way; returns the token.
  ///
  /// The ``authorizationDelegate`` is called too. Cancelling the task ends the wait, and also the
  /// sign-in if no other call waits for it.
  @discardableResult
  public func signIn() async throws(SQOAuthError) -> SQToken {
    try await module.signIn()
  }

  /// Signs the user in with the browser, with options for this sign-in only.
  ///
  /// See ``AuthorizationModule/signIn(with:)``.
  @discardableResult
  public func signIn(with options: SignInOptions) async throws(SQOAuthError) -> SQToken {
    try await module.signIn(with: options)
  }

  /// Signs the user in without asking the user anything, if the provider still knows the user.
  ///
  /// See ``AuthorizationModule/signInSilently(with:)``.
  @discardableResult
  public func signInSilently(
    with options: SignInOptions = SignInOptions()
  ) async throws(SQOAuthError) -> SQToken {
    try await module.signInSilently(with: options)
  }

  /// Gets a valid token: the current one, a refreshed one, or one from a sign-in in the browser.
  ///
  /// See ``AuthorizationModule/requestAccess()``.
  @discardableResult
  public func requestAccess() async throws(SQOAuthError) -> SQToken {
    try await module.requestAccess()
  }

  /// Whether a sign-in is under way.
  public var isSigningIn: Bool { module.isSigningIn }

  /// Cancels the sign-in under way, if there is one; a redirect that comes later has no effect.
  public func cancelSignIn() {
    module.cancelSignIn()
  }

  /// Forgets the token, in memory at once and soon after in the store; the server gets no request.
  ///
  /// A sign-in under way is cancelled. ``signOut()`` and its form with a completion do the same,
  /// and also report when the store has forgotten the token. This method has its name from
  /// Sequencing.com's CocoaPods library.
  public func userDidSignOut() {
    module.forgetSession()
  }

  /// Forgets the token, in memory at once and then in the store; the server gets no request.
  ///
  /// A sign-in under way is cancelled. To end the token at the server too, call ``revoke()``.
  public func signOut() async throws(SQOAuthError) {
    try await module.signOut()
  }

  /// Revokes the tokens at the authorization server, then forgets them.
  ///
  /// See ``AuthorizationModule/revoke()``.
  public func revoke() async throws(SQOAuthError) {
    try await module.revoke()
  }
}
