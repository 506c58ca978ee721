import Basics

// Who the user is, and what is known of the provider.
extension AuthorizationModule {
  /// Asks the provider's UserInfo endpoint about the user who is signed in.
  ///
  /// The request carries a valid token, which is refreshed if the endpoint refuses it. Nothing is
  /// returned if the response is about another user than the ID token. Any task may call it;
  /// cancelling the task ends the request. The time limit is ``ClientConfiguration/timeout``.
  ///
  /// - Throws: ``SQOAuthError``: ``SQOAuthError/Code/idTokenMissing`` if the user signed in without
  ///   the scope `openid`; ``SQOAuthError/Code/userInfoInvalid`` if the response cannot be used;
  ///   the errors of ``token()`` and ``send(_:)``.
  /// - SeeAlso: OpenID Connect Core 1.0, section 5.3
  public func userInfo() async throws(SQOAuthError) -> UserInfo {
    let request = try UserInfoRequest(try await context.client())
    let mark = session.mark
    let token = try await token()
    guard let idToken = token.idToken else {
      throw SQOAuthError(
        .idTokenMissing,
        "the user signed in without an ID token, so the UserInfo response could be about any user; "
          + "add \"openid\" to the scope and sign in again")
    }
    let use = try addressedToken(token, at: try ResourceOrigin(request.endpoint), of: mark)
    let response: HTTPResponse
    do throws(ResourceFailure) {
      response = try await exchange(request.httpRequest(), with: use)
    } catch {
      throw error.error
    }
    return try await request.read(response, of: idToken)
  }

  /// The provider's endpoints and abilities: those that the app gave, or those of its metadata
  /// document, which is fetched if it is not known.
  ///
  /// - Throws: ``SQOAuthError``: the reason why the document could not be fetched or used.
  /// - SeeAlso: OpenID Connect Discovery 1.0, section 3; RFC 8414
  public func providerMetadata() async throws(SQOAuthError) -> ProviderMetadata {
    try await context.client().metadata
  }

  /// Forgets the tokens, and logs the user out at the provider in the browser.
  ///
  /// The tokens leave memory at once and then the store, also if the logout at the provider fails.
  /// After the logout, the provider asks the next user for a password again. The provider may first
  /// ask the user to confirm. If the client has a ``ClientConfiguration/postLogoutRedirectURI``,
  /// the call waits for the redirect, at most for ``ClientConfiguration/signInTimeout``; otherwise
  /// it returns when the browser has the address. With `revokesTokens` the tokens are revoked
  /// first; if that fails, the logout goes on. Cancelling the task ends the wait.
  ///
  /// - Throws: ``SQOAuthError``, after the tokens have left memory:
  ///   ``SQOAuthError/Code/endSessionUnsupported`` if the provider cannot log users out;
  ///   ``SQOAuthError/Code/stateMismatch`` if the redirect may answer another logout;
  ///   ``SQOAuthError/Code/timedOut``; the error of the user agent or the store; if nothing else
  ///   failed, the error of the revocation.
  /// - SeeAlso: OpenID Connect RP-Initiated Logout 1.0
  public func endSession(
    revokesTokens: Bool = false, logoutHint: String? = nil, uiLocales: [String] = []
  ) async throws(SQOAuthError) {
    // The store may know the user although this process has not read it yet.
    if currentToken == nil { _ = try? await restore() }
    let idToken = currentToken?.idToken
    let revocation = revokesTokens ? await revocationError() : nil
    // A program that exits on an error of the logout must not leave the account in the store.
    let forgotten = await forgetSession().wait()
    let logout = ProviderLogout(
      client: try await context.client(), accountID: accountID, idToken: idToken,
      logoutHint: logoutHint, uiLocales: uiLocales,
      isWaiting: { pending in self.signIns.expect(pending) })
    try await logout.run()
    try forgotten.get()
    if let revocation { throw revocation }
  }

  private func revocationError() async -> SQOAuthError? {
    do throws(SQOAuthError) {
      try await revoke()
      return nil
    } catch {
      return error
    }
  }
}
