// The user's identity and the provider's metadata.
extension AccountOperations {
  /// Returns the validated ID token with the user's identity, or throws the reason why there is
  /// none.
  ///
  /// If no token is in memory, this method reads the store. If there is no ID token, it fetches the
  /// provider's metadata to find the reason. It does not refresh the access token, even if that has
  /// expired.
  ///
  /// - Throws: ``SQOAuthError``: ``SQOAuthError/Code/openIDUnsupported`` if the provider has no
  ///   issuer or no keys to verify an ID token with; the error of the request if the metadata that
  ///   may name the keys could not be fetched; ``SQOAuthError/Code/idTokenMissing`` if the
  ///   sign-in did not ask for the scope `openid`, or brought no ID token;
  ///   ``SQOAuthError/Code/invalidConfiguration`` if there is no ID token, and another client or
  ///   server has been registered since the sign-in; ``SQOAuthError/Code/notAuthorized`` if no user
  ///   is signed in; the store's error.
  /// - SeeAlso: OpenID Connect Core 1.0, section 2
  public func idToken() async throws(SQOAuthError) -> IDToken {
    try await module.identity(of: try await module.restoredRecord())
  }

  /// Gets the signed-in user's claims from the provider's UserInfo endpoint.
  ///
  /// The request carries a valid token; if the endpoint refuses the token, the SDK refreshes it. A
  /// response about a user other than the ID token's is rejected. Any task may call this method;
  /// cancelling the task ends the request. The time limit is ``ClientConfiguration/timeout``.
  ///
  /// - Throws: ``SQOAuthError``: ``SQOAuthError/Code/invalidConfiguration`` if the provider has no
  ///   UserInfo endpoint, or if another client or server has been registered since the sign-in,
  ///   which must not get the user's token; the error of the request if the metadata that may name
  ///   the endpoint could not be fetched; the errors of ``idToken()`` if it is not known who
  ///   signed in; ``SQOAuthError/Code/userInfoInvalid`` if the response cannot be used; the errors
  ///   of ``token()`` and ``send(_:)``.
  /// - SeeAlso: OpenID Connect Core 1.0, section 5.3
  public func userInfo() async throws(SQOAuthError) -> UserInfo {
    let owner = module.session.owner
    let record = try await module.validRecord()
    let token = record.token
    // Only the OpenID Connect document must name the endpoint, and the keys of signed responses.
    let client = try await module.context.unprovenClient(of: record, needs: .identity)
    let request = try UserInfoRequest(client)
    // Without an ID token the response could be about any user.
    let idToken = try client.identity(of: token)
    var use = try module.addressedToken(
      token, at: try ResourceOrigin(request.endpoint), of: owner)
    use.purpose = .userInfo
    let response: WebResponse
    do throws(ResourceFailure) {
      response = try await module.exchange(request.httpRequest(), with: use)
    } catch {
      throw error.error
    }
    // After a refusal, the token may have been replaced. The response may repeat the old token or
    // the new one, so no error may show either.
    let secrets = [token.accessToken, currentToken?.accessToken].compactMap(\.self)
    return try await request.read(response, of: idToken, removing: SentSecrets(secrets))
  }

  /// Returns the provider's endpoints and capabilities, from the configuration or from its metadata
  /// document.
  ///
  /// The document is fetched if it is not in memory or no longer fresh.
  ///
  /// - Throws: ``SQOAuthError``: the reason why the document could not be fetched or used.
  /// - SeeAlso: OpenID Connect Discovery 1.0, section 3; RFC 8414
  public func providerMetadata() async throws(SQOAuthError) -> ProviderMetadata {
    try await module.context.client().metadata
  }
}

extension AuthorizationModule {
  /// Returns the account's record, from the store if none is in memory; throws if there is none.
  func restoredRecord() async throws(SQOAuthError) -> AccountRecord {
    guard try await restore(), let record = session.record else { throw .notSignedIn }
    return record
  }

  /// Returns the account's record with a valid token, refreshed if needed.
  ///
  /// The record says which client and server the token belongs to. An operation that sends the
  /// token to the authorization server must pass the record on with it, because the app may
  /// register another client at any time.
  func validRecord() async throws(SQOAuthError) -> AccountRecord {
    while true {
      let token = try await token()
      // Another sign-in may have replaced the token already.
      if let record = session.record, record.token.accessToken == token.accessToken {
        return record
      }
    }
  }

  /// Returns the identity of a record's user, or throws the reason why there is none.
  func identity(of record: AccountRecord) async throws(SQOAuthError) -> IDToken {
    if let idToken = record.token.idToken { return idToken }
    return try await context.unprovenClient(of: record).identity(of: record.token)
  }
}
