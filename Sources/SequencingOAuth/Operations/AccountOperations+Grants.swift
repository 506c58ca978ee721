import SQBasics

/// Grants without a browser: password, client credentials, JWT bearer and extension grants.
///
/// The new token replaces the current one. If the store cannot save it, the token stays in memory,
/// ``TokenRefreshDelegate`` and ``events()`` get the store's error, and the SDK tries again.
/// ``flush()`` throws as long as the store fails. If the account cannot be read before the request,
/// nothing is sent, and the store's error is thrown. A grant that the client can repeat needs the
/// store only for ``AuthorizationModule/attributes`` that this process does not know yet.
///
/// If the task is cancelled before the server answers, the request continues in the background.
/// When its tokens arrive, the SDK revokes them if the server has a revocation endpoint and
/// revokes single tokens (``Provider/revocationEndsGrant``). It does the same if the task is
/// cancelled while the ID token is validated, or if the app ends the session meanwhile. ``flush()``
/// waits for that.
extension AccountOperations {
  /// Exchanges a user's name and password for a token, if the configuration allows it.
  ///
  /// The password is not kept. ``ClientConfiguration/allowsPasswordGrant`` explains why this is the
  /// last resort.
  ///
  /// - SeeAlso: RFC 6749, section 4.3
  @discardableResult
  public func requestAccessToken(
    username: String, password: String, scope: String? = nil
  ) async throws(SQOAuthError) -> SQToken {
    try await module.take(by: "password", scope: scope) {
      [requests = module.tokenRequests] client throws(SQOAuthError) in
      try await PasswordGrant(client: client, tokenRequests: requests)
        .run(username: username, password: password, scope: scope)
    }
  }

  /// Gets a token in the client's own name.
  ///
  /// When the token expires, the module gets a new one with the refresh token if the server sent
  /// one, and otherwise in the same way. If the server refuses the refresh token, the module gets
  /// the new token in the same way too.
  ///
  /// - SeeAlso: RFC 6749, section 4.4
  @discardableResult
  public func requestAccessTokenAsClient(
    scope: String? = nil
  ) async throws(SQOAuthError) -> SQToken {
    try await module.take(.clientCredentials(scope: scope)) {
      [requests = module.tokenRequests] client throws(SQOAuthError) in
      try await ClientCredentialsGrant(client: client, tokenRequests: requests).run(scope: scope)
    }
  }

  /// Exchanges an assertion, signed with the client's key, for a token.
  ///
  /// The key is ``ClientConfiguration/clientKey``. A service uses this grant to act in its own
  /// name, or for a user if the server allows that, without a sign-in page. When the token expires,
  /// the module gets a new one with the refresh token if the server sent one, and otherwise in the
  /// same way. If the server refuses the refresh token, the module gets the new token in the same
  /// way too. If the server refuses the assertion, and its response shows that this machine's clock
  /// is wrong by up to a day, the module sends one more assertion with the server's time. If the
  /// server refuses the assertion for good (``SQOAuthError/Code/invalidGrant``), the session ends.
  /// A client whose ``ClientConfiguration/clientAuthentication`` is
  /// ``ClientAuthentication/publicClient`` sends only the assertion. A remote signer has 10 s to
  /// sign. The request takes at most ``ClientConfiguration/timeout``.
  ///
  /// - Throws: ``SQOAuthError``: ``SQOAuthError/Code/invalidConfiguration`` if the client has no
  ///   key; ``SQOAuthError/Code/clientKeyFailed``; ``SQOAuthError/Code/invalidGrant`` and other
  ///   refusals of the server.
  /// - SeeAlso: RFC 7523, section 2.1
  @discardableResult
  public func requestAccessToken(
    asserting assertion: JWTAssertion, scope: String? = nil
  ) async throws(SQOAuthError) -> SQToken {
    try await module.take(.jwtBearer(assertion, scope: scope)) {
      [requests = module.tokenRequests] client throws(SQOAuthError) in
      try await JWTBearerGrant(client: client, tokenRequests: requests).run(assertion, scope: scope)
    }
  }

  /// Exchanges an assertion from another party, such as the client's platform, for a token.
  ///
  /// ``ClientConfiguration/grantAssertionSource`` provides a new assertion for each request. When
  /// the token expires, the module gets a new one in the same way. This works after a restart too,
  /// if the configuration has a source again: the store gets neither the source nor an assertion. If
  /// the source brings an identity provider's grant for another user then, the renewal fails.
  /// If the server refuses the assertion, no other grant is tried. A refresh token in the response
  /// is not used. The request takes at most ``ClientConfiguration/timeout``, in addition to the
  /// time of the source.
  ///
  /// - Throws: ``SQOAuthError``: ``SQOAuthError/Code/invalidConfiguration`` if the configuration
  ///   has no source; ``SQOAuthError/Code/clientKeyFailed`` if the source fails;
  ///   ``SQOAuthError/Code/invalidGrant`` and other refusals of the server.
  /// - SeeAlso: RFC 7523, section 2.1
  @discardableResult
  public func requestAccessTokenByAssertion(
    scope: String? = nil
  ) async throws(SQOAuthError) -> SQToken {
    try await module.requestAccessTokenByAssertion(scope: scope, of: nil)
  }

  /// Gets a token by an extension grant, such as `urn:ietf:params:oauth:grant-type:saml2-bearer`
  /// (RFC 7522) with the parameter `assertion`.
  ///
  /// The implicit grant is rejected, because its token travels in a URL (RFC 9700, section 2.1.2).
  ///
  /// - SeeAlso: RFC 6749, section 4.5
  @discardableResult
  public func requestAccessToken(
    grantType: String, parameters: [String: String] = [:], scope: String? = nil
  ) async throws(SQOAuthError) -> SQToken {
    try await module.take(by: grantType, scope: scope) {
      [requests = module.tokenRequests] client throws(SQOAuthError) in
      try await ExtensionGrant(client: client, tokenRequests: requests)
        .run(grantType: grantType, parameters: parameters, scope: scope)
    }
  }
}

extension AuthorizationModule {
  /// Exchanges an assertion from another party for a token; the assertion must name the user of
  /// `digest`, ``AccountRecord/Grant/user``, unless that is `nil`.
  package func requestAccessTokenByAssertion(
    scope: String?, of digest: String?
  ) async throws(SQOAuthError) -> SQToken {
    let user = OneShot<String>()
    if let digest { user.resolve(digest) }
    return try await take(.jwtBearer(scope: scope), of: user) {
      [requests = tokenRequests] client throws(SQOAuthError) in
      try await JWTBearerGrant(client: client, tokenRequests: requests)
        .runWithSource(scope: scope, user: user)
    }
  }

  /// Runs a grant and makes its token the current one.
  ///
  /// Cancelling the caller after the grant has returned does not stop this, because the server may
  /// issue the token only once.
  ///
  /// `kind` is a grant that the client can repeat, and `user` gets the user whom its assertion
  /// names. For any other grant, only `grantType` and `scope` are given.
  fileprivate func take(
    _ kind: AccountRecord.Grant? = nil, of user: OneShot<String>? = nil,
    by grantType: String? = nil, scope: String? = nil,
    _ grant: @escaping @Sendable (RegisteredClient) async throws(SQOAuthError) -> SQToken
  ) async throws(SQOAuthError) -> SQToken {
    let way = ClientEvent.SignInWay.grant(kind?.grantType ?? grantType ?? "")
    return try await environment.observing(
      .signIn(way), accountID: accountID
    ) { () throws(SQOAuthError) in
      try await obtain(kind, of: user, scope: kind?.scope ?? scope, grant)
    }
  }

  private func obtain(
    _ kind: AccountRecord.Grant?, of user: OneShot<String>?, scope: String?,
    _ grant: @escaping @Sendable (RegisteredClient) async throws(SQOAuthError) -> SQToken
  ) async throws(SQOAuthError) -> SQToken {
    let appEndCount = session.appEndCount
    let client = try await context.client(needs: RegisteredClient.metadataNeeds(ofScope: scope))
      .provingAnew()
    if kind == nil {
      try await checkStore()
    } else if session.token == nil {
      // The client can repeat the grant, so the store need not be able to save. But the new record
      // must keep the attributes of the earlier one. A damaged record has none. A record of a later
      // version is never replaced.
      if case .failure(let error) = await readAttributes(), error.code != .storeDamaged,
        error.code == .storeTooNew || attributes.isEmpty && context.newAttributes == nil
      {
        throw error
      }
    }
    return try await tokenRequests.tracking { () throws(SQOAuthError) in
      let token = try await grant(client)
      do throws(SQOAuthError) {
        let kind = kind?.naming(user?.current)
        try await take(token, from: client, kind, since: appEndCount)
      } catch {
        // The app has ended the session meanwhile, so the token will not be used.
        tokenRequests.revoke(token, of: client)
        throw error
      }
      return token
    }
  }

  /// Makes a grant's token the current one, unless the app ended the session in the meantime.
  ///
  /// Requests that wait for a token fail, unless the user is known to be the same, or `owner` is the
  /// user whom the sign-in demanded.
  ///
  /// - Returns: The token's owner; `nil` if another token has become the current one meanwhile.
  @discardableResult
  package func take(
    _ token: SQToken, from client: RegisteredClient, _ grant: AccountRecord.Grant? = nil,
    since appEndCount: Int, ofSameUserAs owner: RequestOwner? = nil
  ) async throws(SQOAuthError) -> RequestOwner? {
    try await session.takeOver(
      context.record(of: token, from: client, grant, id: accountID), since: appEndCount,
      ofSameUserAs: owner)
  }
}
