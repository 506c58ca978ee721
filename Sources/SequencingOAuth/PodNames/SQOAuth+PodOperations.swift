// Operations with the names and the meaning of Sequencing.com's CocoaPods library.
extension SQOAuth {
  /// Forgets the token, in memory at once and soon after in the store; the server gets no request.
  ///
  /// A sign-in under way is cancelled. ``AccountOperations/signOut()`` and its form with a
  /// completion do the same, and also report when the store has erased the token. The name of this
  /// method comes from Sequencing.com's CocoaPods library.
  public func userDidSignOut() {
    module.forgetSession()
  }

  /// Refreshes a token that the app saved, like ``AccountOperations/refresh(with:)``.
  ///
  /// It has this name for apps that were written for Sequencing.com's CocoaPods library.
  ///
  /// The completion is called once: on its actor if it belongs to one, and otherwise on
  /// ``AccountOperations/callbackQueue``. It gets the fresh token, or `nil` if the refresh fails or
  /// `token` is `nil`; ``AccountOperations/refresh(with:completion:)`` also gives the reason.
  public func withRefreshToken(
    _ token: SQToken?, updateAccessToken completion: @escaping @isolated(any) (SQToken?) -> Void
  ) {
    let fresh = token.map { module.renewal(of: $0) }
    module.callbacks.complete(with: completion) { try? await fresh?() }
  }

  /// Continues with a token that the app saved, for example at launch.
  ///
  /// It has this name for apps that were written for Sequencing.com's CocoaPods library. The token
  /// becomes the current one at once. The SDK refreshes it before it expires, or now if it has
  /// expired. If the account already has a newer token, in memory or in the store, `token` is an
  /// outdated copy and the newer token stays. A `token` without an ``SQToken/issueDate`` counts as
  /// newer. The ``tokenRefreshDelegate`` gets errors, such as ``SQOAuthError/Code/notAuthorized`` if
  /// `token` is `nil`.
  public func launchTokenTimerUpdate(with token: SQToken?) {
    module.launch(token)
  }
}
