/// Operations with completion handlers, for code without `async`; the ``module`` performs them.
///
/// Each completion is called once: on its actor if it belongs to one, as a closure of a
/// `@MainActor` screen does, and otherwise on ``callbackQueue``. It gets the error that the `async`
/// form throws.
extension SQOAuth {
  // MARK: A token

  /// Signs the user in with the browser, or joins the sign-in under way; see ``signIn()``.
  public func signIn(
    _ completion: @escaping @isolated(any) (Result<SQToken, SQOAuthError>) -> Void
  ) {
    module.signIn(completion)
  }

  /// Signs the user in with options for this sign-in only; see ``signIn(with:)``.
  public func signIn(
    with options: SignInOptions,
    completion: @escaping @isolated(any) (Result<SQToken, SQOAuthError>) -> Void
  ) {
    module.signIn(with: options, completion: completion)
  }

  /// Signs the user in without asking the user anything; see ``signInSilently(with:)``.
  public func signInSilently(
    with options: SignInOptions = SignInOptions(),
    completion: @escaping @isolated(any) (Result<SQToken, SQOAuthError>) -> Void
  ) {
    module.signInSilently(with: options, completion: completion)
  }

  /// Gets the signed-in user's claims from the provider; see ``userInfo()``.
  public func userInfo(
    _ completion: @escaping @isolated(any) (Result<UserInfo, SQOAuthError>) -> Void
  ) {
    module.userInfo(completion)
  }

  /// Forgets the tokens, and logs the user out at the provider in the browser.
  ///
  /// See ``endSession(revokesTokens:logoutHint:uiLocales:)``.
  public func endSession(
    revokesTokens: Bool = false, logoutHint: String? = nil, uiLocales: [String] = [],
    completion: @escaping @isolated(any) (Result<Void, SQOAuthError>) -> Void
  ) {
    module.endSession(
      revokesTokens: revokesTokens, logoutHint: logoutHint, uiLocales: uiLocales,
      completion: completion)
  }

  /// Gets a valid token: the current one, a refreshed one, or one from a sign-in in the browser.
  ///
  /// See ``requestAccess()``.
  public func requestAccess(
    _ completion: @escaping @isolated(any) (Result<SQToken, SQOAuthError>) -> Void
  ) {
    module.requestAccess(completion)
  }

  /// Gets a token that is valid now; see ``token()``.
  public func token(
    _ completion: @escaping @isolated(any) (Result<SQToken, SQOAuthError>) -> Void
  ) {
    module.token(completion)
  }

  /// Gets a fresh token from the server; see ``refresh()``.
  public func refresh(
    _ completion: @escaping @isolated(any) (Result<SQToken, SQOAuthError>) -> Void
  ) {
    module.refresh(completion)
  }

  /// Loads the token from the store; see ``restore()``.
  public func restore(
    _ completion: @escaping @isolated(any) (Result<Bool, SQOAuthError>) -> Void
  ) {
    module.restore(completion)
  }

  /// Replaces the current token with one from the app, and calls the completion when the store has
  /// it.
  ///
  /// The completion is called once: on its actor if it belongs to one, and otherwise on
  /// ``callbackQueue``. See ``AuthorizationModule/adopt(_:)``.
  public func adopt(
    _ token: SQToken,
    completion: @escaping @isolated(any) (Result<SQToken, SQOAuthError>) -> Void
  ) {
    module.adopt(token, completion: completion)
  }

  /// Refreshes a token that the app saved; see ``refresh(with:)``.
  public func refresh(
    with token: SQToken,
    completion: @escaping @isolated(any) (Result<SQToken, SQOAuthError>) -> Void
  ) {
    module.callbacks.complete(completion, renewal(of: token))
  }

  // MARK: Other grants

  /// Exchanges a user's name and password for a token.
  ///
  /// See ``requestAccessToken(username:password:scope:)``.
  public func requestAccessToken(
    username: String, password: String, scope: String? = nil,
    completion: @escaping @isolated(any) (Result<SQToken, SQOAuthError>) -> Void
  ) {
    module.requestAccessToken(
      username: username, password: password, scope: scope, completion: completion)
  }

  /// Gets a token in the client's own name; see ``requestAccessTokenAsClient(scope:)``.
  public func requestAccessTokenAsClient(
    scope: String? = nil,
    completion: @escaping @isolated(any) (Result<SQToken, SQOAuthError>) -> Void
  ) {
    module.requestAccessTokenAsClient(scope: scope, completion: completion)
  }

  /// Exchanges an assertion signed with the client's key for a token.
  ///
  /// See ``requestAccessToken(asserting:scope:)``.
  public func requestAccessToken(
    asserting assertion: JWTAssertion, scope: String? = nil,
    completion: @escaping @isolated(any) (Result<SQToken, SQOAuthError>) -> Void
  ) {
    module.requestAccessToken(asserting: assertion, scope: scope, completion: completion)
  }

  /// Gets a token by an extension grant.
  ///
  /// See ``requestAccessToken(grantType:parameters:scope:)``.
  public func requestAccessToken(
    grantType: String, parameters: [String: String] = [:], scope: String? = nil,
    completion: @escaping @isolated(any) (Result<SQToken, SQOAuthError>) -> Void
  ) {
    module.requestAccessToken(
      grantType: grantType, parameters: parameters, scope: scope, completion: completion)
  }

  /// Exchanges a token for one with a different type or for a different service.
  ///
  /// See ``exchangeToken(_:)``.
  public func exchangeToken(
    _ exchange: TokenExchange,
    completion: @escaping @isolated(any) (Result<ExchangedToken, SQOAuthError>) -> Void
  ) {
    module.exchangeToken(exchange, completion: completion)
  }

  // MARK: Requests

  /// Puts a valid token on a copy of a request; see ``authenticate(_:)``.
  public func authenticate(
    _ request: HTTPRequest,
    completion: @escaping @isolated(any) (Result<HTTPRequest, SQOAuthError>) -> Void
  ) {
    module.authenticate(request, completion: completion)
  }

  /// Sends a request with a valid token; see ``send(_:)``.
  public func send(
    _ request: HTTPRequest,
    completion: @escaping @isolated(any) (Result<HTTPResponse, SQOAuthError>) -> Void
  ) {
    module.send(request, completion: completion)
  }

  // MARK: The end

  /// Forgets the token, in memory at once and then in the store; see ``signOut()``.
  public func signOut(
    _ completion: @escaping @isolated(any) (Result<Void, SQOAuthError>) -> Void
  ) {
    module.signOut(completion)
  }

  /// Revokes the tokens at the authorization server, then forgets them; see ``revoke()``.
  public func revoke(
    _ completion: @escaping @isolated(any) (Result<Void, SQOAuthError>) -> Void
  ) {
    module.revoke(completion)
  }

  /// Calls the completion when no refresh is under way and the store has the newest token.
  ///
  /// See ``settle()``.
  public func settle(
    _ completion: @escaping @isolated(any) (Result<Void, SQOAuthError>) -> Void
  ) {
    module.settle(completion)
  }
}
