/// Every way to a new token; each replaces the token that is there.
///
/// A token that the store cannot keep is in memory all the same. ``TokenRefreshDelegate`` and
/// ``events`` then get the store's error, the store is tried again, and ``settle()`` throws while it
/// fails.
extension AuthorizationModule {
  // MARK: The code grant

  /// Signs the user in, in the browser, or joins the sign-in under way.
  ///
  /// Cancelling the task ends the wait, and the sign-in as well if nobody else waits for it.
  ///
  /// - SeeAlso: RFC 6749, section 4.1
  @discardableResult
  public func signIn() async throws(SQOAuthError) -> SQToken {
    try await signIns.token { await self.outcome(of: $0) }
  }

  /// The same, unless a sign-in has ended since there were so many: its failure is this call's, and
  /// where it brought a token this is `nil`.
  func signIn(since endCount: Int) async throws(SQOAuthError) -> SQToken? {
    try await signIns.token(since: endCount) { await self.outcome(of: $0) }
  }

  /// Starts a sign-in that goes on whoever waits for it.
  func startSignIn() {
    signIns.start { await self.outcome(of: $0) }
  }

  /// Whether a sign-in is under way.
  public var isSigningIn: Bool { signIns.isUnderWay }

  /// Ends the sign-in under way, if there is one; a redirect that comes later is refused.
  public func cancelSignIn() {
    signIns.cancel()
  }

  private func outcome(of signIn: SignIn) async -> SignIn.Outcome {
    let epoch = session.epoch
    do throws(SQOAuthError) {
      guard !Task.isCancelled else { throw .signInCancelled }
      _ = try context.configuration.get()
      // A store that cannot be read or written would lose the token: the user hears that before the
      // browser opens.
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

  /// Trades a user's name and password for a token, where the configuration allows that.
  ///
  /// The password is not kept. ``ClientConfiguration/allowsPasswordGrant`` says why this is the
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

  /// Gets a token in the client's own name; when it expires the next one is had the same way.
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

  /// Runs a grant and takes its token over, even if the caller is cancelled meanwhile: the server
  /// may give it only once.
  private func take(
    _ kind: AccountRecord.Grant? = nil,
    _ grant: @escaping @Sendable (RegisteredClient) async throws(SQOAuthError) -> SQToken
  ) async throws(SQOAuthError) -> SQToken {
    let epoch = session.epoch
    let client = try await context.client()
    // A token in the client's own name can be asked for again.
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
