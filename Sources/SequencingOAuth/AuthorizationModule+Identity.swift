// Who the user is, and what is known of the provider.
extension AuthorizationModule {
  /// Says who signed in, by the verified ID token of the account's token, or why that is not known.
  ///
  /// It reads the store if no token is in memory, and fetches the provider's metadata if it is not
  /// known. The token itself need not be valid any more, and is not refreshed.
  ///
  /// - Throws: ``SQOAuthError``: ``SQOAuthError/Code/openIDUnsupported`` if the provider has no
  ///   issuer or no keys to verify an ID token with; ``SQOAuthError/Code/idTokenMissing`` if the
  ///   sign-in did not ask for the scope `openid`, or brought no ID token;
  ///   ``SQOAuthError/Code/notAuthorized`` if no user is signed in; the store's error.
  /// - SeeAlso: OpenID Connect Core 1.0, section 2
  public func idToken() async throws(SQOAuthError) -> IDToken {
    guard try await restore(), let token = session.token else { throw .notSignedIn }
    if let idToken = token.idToken { return idToken }
    return try await context.client().identity(of: token)
  }

  /// Asks the provider's UserInfo endpoint about the user who is signed in.
  ///
  /// The request carries a valid token, which is refreshed if the endpoint refuses it. Nothing is
  /// returned if the response is about another user than the ID token. Any task may call it;
  /// cancelling the task ends the request. The time limit is ``ClientConfiguration/timeout``.
  ///
  /// - Throws: ``SQOAuthError``: the errors of ``idToken()`` if it is not known who signed in;
  ///   ``SQOAuthError/Code/userInfoInvalid`` if the response cannot be used; the errors of
  ///   ``token()`` and ``send(_:)``.
  /// - SeeAlso: OpenID Connect Core 1.0, section 5.3
  public func userInfo() async throws(SQOAuthError) -> UserInfo {
    let client = try await context.client()
    let request = try UserInfoRequest(client)
    let mark = session.mark
    let token = try await token()
    // Without an ID token the response could be about any user.
    let idToken = try client.identity(of: token)
    let use = try addressedToken(token, at: try ResourceOrigin(request.endpoint), of: mark)
    let response: HTTPResponse
    do throws(ResourceFailure) {
      response = try await exchange(request.httpRequest(), with: use)
    } catch {
      throw error.error
    }
    // A refused token may have been replaced, and the server may repeat either.
    let secrets = [token.accessToken, currentToken?.accessToken].compactMap(\.self)
    return try await request.read(response, of: idToken, removing: SentSecrets(secrets))
  }

  /// The provider's endpoints and abilities: those that the app gave, or those of its metadata
  /// document, which is fetched if it is not known.
  ///
  /// - Throws: ``SQOAuthError``: the reason why the document could not be fetched or used.
  /// - SeeAlso: OpenID Connect Discovery 1.0, section 3; RFC 8414
  public func providerMetadata() async throws(SQOAuthError) -> ProviderMetadata {
    try await context.client().metadata
  }
}
