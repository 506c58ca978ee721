/// Signing the user in and out, by way of the ``module``.
extension SQOAuth {
  /// Signs the user in, in the browser; the ``authorizationDelegate`` hears once how that ended.
  ///
  /// Called again while a sign-in is under way, it joins that one.
  public func authorizeUser() {
    module.startSignIn()
  }

  /// Signs the user in, in the browser, or joins the sign-in under way; returns its token.
  ///
  /// The ``authorizationDelegate`` hears of it too. Cancelling the task ends the wait, and the sign-in
  /// as well if no other call waits for it.
  @discardableResult
  public func signIn() async throws(SQOAuthError) -> SQToken {
    try await module.signIn()
  }

  /// A valid token by the quickest way there is; see ``AuthorizationModule/requestAccess()``.
  @discardableResult
  public func requestAccess() async throws(SQOAuthError) -> SQToken {
    try await module.requestAccess()
  }

  /// Whether a sign-in is under way.
  public var isSigningIn: Bool { module.isSigningIn }

  /// Ends the sign-in under way, if there is one; a redirect that comes later is refused.
  public func cancelSignIn() {
    module.cancelSignIn()
  }

  /// Forgets the token, in memory at once and in the store soon; the server does not hear of it.
  ///
  /// A sign-in under way is cancelled. The pod's name; ``signOut()`` and its form with a completion
  /// also say when the store has forgotten the token.
  public func userDidSignOut() {
    module.endSession()
  }

  /// Forgets the token, in memory and in the store; the server does not hear of it.
  ///
  /// A sign-in under way is cancelled. ``revoke()`` makes the server end the token too.
  public func signOut() async throws(SQOAuthError) {
    try await module.signOut()
  }

  /// Makes the authorization server end the tokens, then forgets them; see
  /// ``AuthorizationModule/revoke()``.
  public func revoke() async throws(SQOAuthError) {
    try await module.revoke()
  }
}
