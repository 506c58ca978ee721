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
