import SQBasics

// What the client sends for its stored account: renewals and revocations.
extension ClientContext {
  /// Gets the next token of a session from its server; if `client` has a key, the token is bound to
  /// that key.
  ///
  /// `client` is the result of ``renewingClient(of:)``. With `access`, the server is asked for a
  /// token with these rights only, and the session's access token stays. A refresh token is not sent
  /// after `end`, a steady time of the client's clock, and the request ends then.
  func renew(
    _ record: AccountRecord, by client: RegisteredClient, narrowedTo access: NarrowedAccess? = nil,
    until end: Duration
  ) async throws(SQOAuthError) -> RefreshedToken {
    do throws(SQOAuthError) {
      let client = access.map(client.narrowed) ?? client
      if let grant = record.grant, record.token.refreshToken == nil, access?.exchange == nil {
        let user = OneShot<String>()
        if let known = grant.user { user.resolve(known) }
        let token = try await repeated(grant.narrowed(to: access?.scope), by: client, user)
        return access == nil
          ? RefreshedToken(token: token, grant: grant.naming(user.current))
          : RefreshedToken(token: record.token, narrowed: token.withoutAccount)
      }
      if let exchange = access?.exchange {
        return try await exchanged(record, by: client, exchange, until: end)
      }
      return try await RefreshTokenGrant(client: client)
        .run(record.token, narrowedTo: access, until: end)
    } catch {
      // Without an OAuth response, the server may have moved, so the next call fetches its metadata
      // again.
      if error.response == nil, let issuer = client.configuration.provider.issuer {
        client.environment.metadata.expire(issuer)
      }
      throw error
    }
  }

  private func repeated(
    _ grant: AccountRecord.Grant, by client: RegisteredClient, _ user: OneShot<String>
  ) async throws(SQOAuthError) -> SQToken {
    // If the session ends or takes over another token, the renewal is cancelled. Its request
    // continues, and the new token is revoked.
    switch (grant.grantType, grant.assertion) {
    case (JWTAssertion.grantType, let assertion?):
      return try await JWTBearerGrant(client: client, tokenRequests: tokenRequests)
        .run(assertion, scope: grant.scope)
    case (JWTAssertion.grantType, nil):
      return try await JWTBearerGrant(client: client, tokenRequests: tokenRequests)
        .runWithSource(scope: grant.scope, user: user)
    default:
      return try await ClientCredentialsGrant(client: client, tokenRequests: tokenRequests)
        .run(scope: grant.scope)
    }
  }

  /// Exchanges the refresh token; the account's tokens stay as they are.
  ///
  /// A refresh token in the response would be for the new token (RFC 8693, section 2.2.1), so it is
  /// not used.
  private func exchanged(
    _ record: AccountRecord, by client: RegisteredClient, _ exchange: TokenExchange,
    until end: Duration
  ) async throws(SQOAuthError) -> RefreshedToken {
    guard let refreshToken = record.token.refreshToken else { throw .cannotRefresh }
    let exchanged = try await TokenExchangeGrant(client: client, tokenRequests: tokenRequests)
      .run(exchange, subject: TokenExchange.Token(refreshToken, type: .refreshToken), until: end)
    return RefreshedToken(token: record.token, narrowed: exchanged.token)
  }

  /// Returns the pending validation of an earlier refresh's ID token; `nil` if there is nothing to
  /// validate.
  ///
  /// A refresh stores an ID token unvalidated if the validation could not be done then, for example
  /// because the keys could not be fetched.
  func identification(of record: AccountRecord) async throws(SQOAuthError) -> Identification? {
    guard let token = record.unverifiedToken else { return nil }
    let client = try await unprovenClient(of: record, needs: .identity)
    return Identification(
      try client.idTokenValidator(), of: IssuedToken(token), after: record.token)
  }

  /// Revokes the tokens of a session at its server.
  func revoke(
    _ record: AccountRecord, by settings: Settings? = nil
  ) async throws(SQOAuthError) {
    try await Revocation(client: client(of: record, by: settings)).run(record.token)
  }

  /// Returns the client of a record, with the record's key; throws if the record is from another
  /// client or server.
  func client(
    of record: AccountRecord, by settings: Settings? = nil
  ) async throws(SQOAuthError) -> RegisteredClient {
    let client = try await unprovenClient(of: record, by: settings)
    client.resume(serverNonce: record.serverNonce)
    // A grant without a user and without a refresh token gets each token anew. So it can use the
    // key that the configuration names now, as a new sign-in does.
    if record.grant != nil, record.token.refreshToken == nil, !client.fits(record.proofKey) {
      return try client.provingAnew()
    }
    return client.proving(with: record.proofKey)
  }

  /// Returns the client of a record, without a key for proofs; throws if the record is from another
  /// client or server.
  ///
  /// Each operation that sends a token of the account, or names its user, gets its client here.
  /// Without `settings`, the current ones are used. The metadata has what identifies the user if
  /// the account has an ID token, or may get one.
  func unprovenClient(
    of record: AccountRecord, by settings: Settings? = nil, needs: MetadataNeeds = .endpoints
  ) async throws(SQOAuthError) -> RegisteredClient {
    let settings = settings ?? self.settings
    try check(record, settings.configuration.get())
    let client = try await client(
      by: settings, needs: record.mayNameUser ? .identity : needs)
    try check(record, at: client)
    return client
  }
}

extension AccountRecord {
  /// Whether the account has an ID token, or its next token response may have one.
  fileprivate var mayNameUser: Bool {
    token.idToken != nil || RegisteredClient.asksWho(token.scope)
      || RegisteredClient.asksWho(grant?.scope)
  }
}
