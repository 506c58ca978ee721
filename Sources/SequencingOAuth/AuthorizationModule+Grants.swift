/// The grants that begin a session: sign-in, password, client credentials and extension grants.
///
/// The new token replaces the current one. If the store cannot keep it, it is in memory nevertheless. ``TokenRefreshDelegate``
/// and ``events`` then get the store's error, the SDK tries again, and ``settle()`` throws while
/// the store fails.
extension AuthorizationModule {
  // MARK: The code grant

  /// Signs the user in with the browser, or joins the sign-in under way.
  ///
  /// Cancelling the task ends the wait, and also the sign-in if no other caller waits for it.
  ///
  /// - SeeAlso: RFC 6749, section 4.1
  @discardableResult
  public func signIn() async throws(SQOAuthError) -> SQToken {
    try await signIns.token { await self.outcome(of: $0) }
  }

  /// Signs the user in unless a sign-in has ended since `endCount`, which the caller read before.
  ///
  /// If one has ended, its error is thrown, or `nil` is returned if it brought a token.
  func signIn(since endCount: Int) async throws(SQOAuthError) -> SQToken? {
    try await signIns.token(since: endCount) { await self.outcome(of: $0) }
  }

  /// Starts a sign-in that continues even if no caller waits for it.
  func startSignIn() {
    signIns.start { await self.outcome(of: $0) }
  }

  /// Whether a sign-in is under way.
  public var isSigningIn: Bool { signIns.isUnderWay }

  /// Ends the sign-in under way, if there is one; a redirect that comes later has no effect.
  public func cancelSignIn() {
    signIns.cancel()
  }

  private func outcome(of signIn: SignIn) async -> SignIn.Outcome {
    let epoch = session.epoch
    do throws(SQOAuthError) {
      guard !Task.isCancelled else { throw .signInCancelled }
      _ = try context.configuration.get()
      // If the store already fails now, the new token would be lost when the program ends. So the
      // sign-in fails before the browser opens.
      if let record = try await session.account.check() { context.resumeAttributes(of: record) }
      let grant = AuthorizationCodeGrant(
        client: try await context.client(isFresh: true), accountID: accountID,
        isWaiting: { signIn.isWaiting($0) },
        keep: { token, client throws(SQOAuthError) in
          try await self.take(token, from: client, of: epoch)
        })
      return .success(try await grant.run())
    } catch {
      return .failure(Task.isCancelled ? .signInCancelled : error)
    }
  }

  // MARK: Other grants

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
    try await take { client throws(SQOAuthError) in
      try await PasswordGrant(client: client)
        .run(username: username, password: password, scope: scope)
    }
  }

  /// Gets a token in the client's own name, and a new one in the same way when it expires.
  ///
  /// - SeeAlso: RFC 6749, section 4.4
  @discardableResult
  public func requestAccessTokenAsClient(
    scope: String? = nil
  ) async throws(SQOAuthError) -> SQToken {
    try await take(.clientCredentials(scope: scope)) { client throws(SQOAuthError) in
      try await ClientCredentialsGrant(client: client).run(scope: scope)
    }
  }

  /// Gets a token by a grant of another specification, such as
  /// `urn:ietf:params:oauth:grant-type:jwt-bearer`.
  ///
  /// The implicit grant is refused: its token travels in a URL (RFC 9700, section 2.1.2).
  ///
  /// - SeeAlso: RFC 6749, section 4.5
  @discardableResult
  public func requestAccessToken(
    grantType: String, parameters: [String: String] = [:], scope: String? = nil
  ) async throws(SQOAuthError) -> SQToken {
    try await take { client throws(SQOAuthError) in
      try await ExtensionGrant(client: client)
        .run(grantType: grantType, parameters: parameters, scope: scope)
    }
  }

  /// Runs a grant and makes its token the current one, even if the caller is cancelled in the
  /// meantime: the server may give that token only once.
  private func take(
    _ kind: AccountRecord.Grant? = nil,
    _ grant: @escaping @Sendable (RegisteredClient) async throws(SQOAuthError) -> SQToken
  ) async throws(SQOAuthError) -> SQToken {
    let epoch = session.epoch
    let client = try await context.client()
    // The store is not checked for a client credentials token: the client can request that again.
    if kind == nil { _ = try await session.account.check() }
    let token = try await grant(client)
    try await take(token, from: client, kind, of: epoch)
    return token
  }

  private func take(
    _ token: SQToken, from client: RegisteredClient, _ grant: AccountRecord.Grant? = nil,
    of epoch: Int
  ) async throws(SQOAuthError) {
    try await session.takeOver(
      context.record(of: token, from: client, grant, id: accountID), of: epoch)
  }
}
