import SQBasics

/// Operations with completion handlers, for code without `async`.
///
/// Each completion is called once: on its actor if it belongs to one, as a closure of a
/// `@MainActor` screen does, and otherwise on ``callbackQueue``. It gets the error that the `async`
/// form throws.
extension AccountOperations {
  // MARK: A token

  /// Signs the user in with the browser, or joins the sign-in under way; see ``signIn()``.
  public func signIn(
    _ completion: @escaping @isolated(any) (Result<SQToken, SQOAuthError>) -> Void
  ) {
    module.callbacks.complete(completion) { () throws(SQOAuthError) in try await self.signIn() }
  }

  /// Signs the user in with options for this sign-in only; see ``signIn(with:)``.
  public func signIn(
    with options: SignInOptions,
    completion: @escaping @isolated(any) (Result<SQToken, SQOAuthError>) -> Void
  ) {
    module.callbacks.complete(completion) { () throws(SQOAuthError) in
      try await self.signIn(with: options)
    }
  }

  /// Signs the user in without asking the user anything; see ``signInSilently(with:)``.
  public func signInSilently(
    with options: SignInOptions = SignInOptions(),
    completion: @escaping @isolated(any) (Result<SQToken, SQOAuthError>) -> Void
  ) {
    module.callbacks.complete(completion) { () throws(SQOAuthError) in
      try await self.signInSilently(with: options)
    }
  }

  /// Gets the signed-in user's claims from the provider; see ``userInfo()``.
  public func userInfo(
    _ completion: @escaping @isolated(any) (Result<UserInfo, SQOAuthError>) -> Void
  ) {
    module.callbacks.complete(completion) { () throws(SQOAuthError) in try await self.userInfo() }
  }

  /// Forgets the tokens, and logs the user out at the provider in the browser.
  ///
  /// See ``endSession(revokesTokens:logoutHint:uiLocales:)``.
  public func endSession(
    revokesTokens: Bool = false, logoutHint: String? = nil, uiLocales: [String] = [],
    completion: @escaping @isolated(any) (Result<Void, SQOAuthError>) -> Void
  ) {
    module.callbacks.complete(completion) { () throws(SQOAuthError) in
      try await self.endSession(
        revokesTokens: revokesTokens, logoutHint: logoutHint, uiLocales: uiLocales)
    }
  }

  /// Gets a valid token: the current one, a refreshed one, or one from a sign-in in the browser.
  ///
  /// See ``requestAccess()``.
  public func requestAccess(
    _ completion: @escaping @isolated(any) (Result<SQToken, SQOAuthError>) -> Void
  ) {
    // The app may end the session before the task starts.
    let owner = module.session.owner
    module.callbacks.complete(completion) { () throws(SQOAuthError) in
      try await self.module.access(SignIn.Request(), of: owner).token
    }
  }

  /// Signs the user in again as a resource server demands.
  ///
  /// See ``requestAccess(answering:with:)``.
  public func requestAccess(
    answering error: SQOAuthError, with options: SignInOptions = SignInOptions(),
    completion: @escaping @isolated(any) (Result<SQToken, SQOAuthError>) -> Void
  ) {
    module.callbacks.complete(completion) { () throws(SQOAuthError) in
      try await self.requestAccess(answering: error, with: options)
    }
  }

  /// Gets a token that is valid now; see ``token()``.
  public func token(
    _ completion: @escaping @isolated(any) (Result<SQToken, SQOAuthError>) -> Void
  ) {
    module.callbacks.complete(completion) { () throws(SQOAuthError) in try await self.token() }
  }

  /// Gets a fresh token from the server; see ``refresh()``.
  public func refresh(
    _ completion: @escaping @isolated(any) (Result<SQToken, SQOAuthError>) -> Void
  ) {
    module.callbacks.complete(completion) { () throws(SQOAuthError) in try await self.refresh() }
  }

  /// Loads the token from the store; see ``restore()``.
  public func restore(
    _ completion: @escaping @isolated(any) (Result<Bool, SQOAuthError>) -> Void
  ) {
    module.callbacks.complete(completion) { () throws(SQOAuthError) in try await self.restore() }
  }

  // MARK: Other grants

  /// Exchanges a user's name and password for a token.
  ///
  /// See ``requestAccessToken(username:password:scope:)``.
  public func requestAccessToken(
    username: String, password: String, scope: String? = nil,
    completion: @escaping @isolated(any) (Result<SQToken, SQOAuthError>) -> Void
  ) {
    module.callbacks.complete(completion) { () throws(SQOAuthError) in
      try await self.requestAccessToken(username: username, password: password, scope: scope)
    }
  }

  /// Gets a token in the client's own name; see ``requestAccessTokenAsClient(scope:)``.
  public func requestAccessTokenAsClient(
    scope: String? = nil,
    completion: @escaping @isolated(any) (Result<SQToken, SQOAuthError>) -> Void
  ) {
    module.callbacks.complete(completion) { () throws(SQOAuthError) in
      try await self.requestAccessTokenAsClient(scope: scope)
    }
  }

  /// Exchanges an assertion, signed with the client's key, for a token.
  ///
  /// See ``requestAccessToken(asserting:scope:)``.
  public func requestAccessToken(
    asserting assertion: JWTAssertion, scope: String? = nil,
    completion: @escaping @isolated(any) (Result<SQToken, SQOAuthError>) -> Void
  ) {
    module.callbacks.complete(completion) { () throws(SQOAuthError) in
      try await self.requestAccessToken(asserting: assertion, scope: scope)
    }
  }

  /// Exchanges an assertion from another party for a token.
  ///
  /// See ``requestAccessTokenByAssertion(scope:)``.
  public func requestAccessTokenByAssertion(
    scope: String? = nil,
    completion: @escaping @isolated(any) (Result<SQToken, SQOAuthError>) -> Void
  ) {
    module.callbacks.complete(completion) { () throws(SQOAuthError) in
      try await self.requestAccessTokenByAssertion(scope: scope)
    }
  }

  /// Gets a token by an extension grant.
  ///
  /// See ``requestAccessToken(grantType:parameters:scope:)``.
  public func requestAccessToken(
    grantType: String, parameters: [String: String] = [:], scope: String? = nil,
    completion: @escaping @isolated(any) (Result<SQToken, SQOAuthError>) -> Void
  ) {
    module.callbacks.complete(completion) { () throws(SQOAuthError) in
      try await self.requestAccessToken(
        grantType: grantType, parameters: parameters, scope: scope)
    }
  }

  /// Exchanges a token for one with a different type or for a different service.
  ///
  /// See ``exchangeToken(_:)``.
  public func exchangeToken(
    _ exchange: TokenExchange,
    completion: @escaping @isolated(any) (Result<ExchangedToken, SQOAuthError>) -> Void
  ) {
    module.callbacks.complete(completion) { () throws(SQOAuthError) in
      try await self.exchangeToken(exchange)
    }
  }

  /// Gets an access token for some of the account's resources, for a part of its scope, or for
  /// both.
  ///
  /// See ``narrowedToken(for:scope:)``.
  public func narrowedToken(
    for resources: [String] = [], scope: String? = nil,
    completion: @escaping @isolated(any) (Result<ExchangedToken, SQOAuthError>) -> Void
  ) {
    module.callbacks.complete(completion) { () throws(SQOAuthError) in
      try await self.narrowedToken(for: resources, scope: scope)
    }
  }

  /// Sends a request with an exchanged or narrowed access token.
  ///
  /// See ``send(_:with:)``.
  public func send(
    _ request: WebRequest, with token: ExchangedToken,
    completion: @escaping @isolated(any) (Result<WebResponse, SQOAuthError>) -> Void
  ) {
    module.callbacks.complete(completion) { () throws(SQOAuthError) in
      try await self.send(request, with: token)
    }
  }

  // MARK: Requests

  /// Puts a valid token on a copy of a request; see ``authenticate(_:)``.
  public func authenticate(
    _ request: WebRequest,
    completion: @escaping @isolated(any) (Result<WebRequest, SQOAuthError>) -> Void
  ) {
    module.callbacks.complete(completion) { () throws(SQOAuthError) in
      try await self.authenticate(request)
    }
  }

  /// Sends a request with a valid token; see ``send(_:)``.
  public func send(
    _ request: WebRequest,
    completion: @escaping @isolated(any) (Result<WebResponse, SQOAuthError>) -> Void
  ) {
    module.callbacks.complete(completion) { () throws(SQOAuthError) in try await self.send(request)
    }
  }

  // MARK: The end

  /// Forgets the token, in memory at once and then in the store; see ``signOut()``.
  public func signOut(
    _ completion: @escaping @isolated(any) (Result<Void, SQOAuthError>) -> Void
  ) {
    let change = module.forgetSession()
    module.callbacks.complete(completion) { () throws(SQOAuthError) in try await change.wait().get()
    }
  }

  /// Revokes the tokens at the authorization server, then forgets them; see ``revoke()``.
  public func revoke(
    _ completion: @escaping @isolated(any) (Result<Void, SQOAuthError>) -> Void
  ) {
    module.callbacks.complete(completion) { () throws(SQOAuthError) in try await self.revoke() }
  }

  /// Calls the completion when no refresh is under way and the store has the newest token.
  ///
  /// See ``flush()``.
  public func flush(
    _ completion: @escaping @isolated(any) (Result<Void, SQOAuthError>) -> Void
  ) {
    module.callbacks.complete(completion) { () throws(SQOAuthError) in try await self.flush() }
  }
}
