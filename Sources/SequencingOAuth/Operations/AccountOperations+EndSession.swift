import SQBasics

// Logout at the provider, started by the app.

extension AccountOperations {
  /// Forgets the tokens, and logs the user out at the provider in the browser.
  ///
  /// The tokens leave memory at once and then the store, even if the logout at the provider fails.
  /// After the logout, the provider asks the next user for a password again. It may first ask the
  /// user to confirm the logout. If the client has a ``ClientConfiguration/postLogoutRedirectURI``,
  /// this method waits for the redirect, at most for ``ClientConfiguration/signInTimeout``;
  /// otherwise it returns when the browser has opened the provider's page. If the browser's command
  /// has not ended after 5 s, the page counts as open, and the browser stays open. For a text browser
  /// in the terminal, the method waits until the user leaves it, at most for
  /// ``ClientConfiguration/signInTimeout``. With `revokesTokens` the tokens are revoked first; if the
  /// revocation fails, the logout continues. Cancelling the task ends the wait.
  ///
  /// The client and the server are those that are registered when the call begins. If the account
  /// belongs to another client or server, the browser does not open: neither the user's ID token
  /// nor the tokens to revoke are sent to a server that did not issue them.
  ///
  /// If `revokesTokens` is `true` and another user has signed in before the revocation ends, here or
  /// in another process, only the tokens of the earlier sign-in are revoked. There is no logout then,
  /// even if the revocation fails, and the session continues with the new sign-in.
  ///
  /// - Throws: ``SQOAuthError``, after the tokens have left memory:
  ///   ``SQOAuthError/Code/sessionReplaced`` if the session continues with a new sign-in; its
  ///   ``SQOAuthError/cause`` is the error of the revocation, if that failed;
  ///   ``SQOAuthError/Code/endSessionUnsupported`` if the provider cannot log users out;
  ///   ``SQOAuthError/Code/invalidConfiguration`` if the account belongs to another client or
  ///   server than the registered one, so that the user is still logged in at the account's
  ///   provider; ``SQOAuthError/Code/stateMismatch`` if the redirect might belong to another
  ///   logout; ``SQOAuthError/Code/timedOut``; the error of the user agent; if nothing else failed,
  ///   the error of the revocation. If the store still has the tokens,
  ///   ``SQOAuthError/Code/storeFailed`` takes precedence over all of these.
  /// - SeeAlso: OpenID Connect RP-Initiated Logout 1.0
  public func endSession(
    revokesTokens: Bool = false, logoutHint: String? = nil, uiLocales: [String] = []
  ) async throws(SQOAuthError) {
    // The app may register another client during each wait of this method. That client's server
    // must not get the tokens of the earlier one.
    let settings = module.context.settings
    // The store may know the user although this process has not read it yet.
    let unread =
      currentToken == nil
      ? await AuthorizationModule.failure { () throws(SQOAuthError) in
        try await module.session.restore(for: settings)
      } : nil
    let (record, owner) = module.session.decide { ($0.record, $0.owner) }
    let revocation = revokesTokens ? try await module.revocationFailure(of: owner, settings) : nil
    // Forget the account before the logout: a program may exit when the logout fails, and must not
    // leave the account in the store.
    let forgotten = await module.forgetSession().wait()
    let failure = await AuthorizationModule.failure { () throws(SQOAuthError) in
      try await ProviderLogout(
        client: try await module.logoutClient(of: record, unread, by: settings),
        accountID: module.accountID, idToken: record?.token.idToken, logoutHint: logoutHint,
        uiLocales: uiLocales, isWaiting: { [module] pending in module.signIns.expect(pending) }
      ).run()
    }
    // A refresh token that stays in the store is the most serious error, so report it first.
    try forgotten.get()
    if let failure { throw failure }
    if var revocation {
      revocation.message +=
        "; the SDK has forgotten the tokens, but the provider may still accept them"
      throw revocation
    }
  }
}

extension AuthorizationModule {
  /// Returns the client that logs the user of a record out; without a record, the provider may ask
  /// which user to log out.
  ///
  /// `unread` is the reason why there is no record, if the store could not be read.
  ///
  /// - Throws: ``SQOAuthError/Code/invalidConfiguration`` if the account belongs to another client
  ///   or server.
  fileprivate func logoutClient(
    of record: AccountRecord?, _ unread: SQOAuthError?, by settings: ClientContext.Settings
  ) async throws(SQOAuthError) -> RegisteredClient {
    do throws(SQOAuthError) {
      if let record { return try await context.unprovenClient(of: record, by: settings) }
      // The store has a record of another client or server.
      if let unread, unread.code == .invalidConfiguration { throw unread }
      return try await context.client(by: settings)
    } catch {
      guard error.code == .invalidConfiguration else { throw error }
      var error = error
      // The rest of the message advises a sign-out, which is done.
      let reason = error.message.prefix { $0 != ";" }
      error.message =
        "\(reason); the SDK has forgotten the tokens, but the user is still logged in at the "
        + "provider"
      throw error
    }
  }

  /// Revokes the tokens; returns the reason if that failed.
  ///
  /// - Throws: ``SQOAuthError/Code/sessionReplaced`` if the account now belongs to a later sign-in
  ///   than the owner's, which this logout is not about.
  fileprivate func revocationFailure(
    of owner: RequestOwner, _ settings: ClientContext.Settings
  ) async throws(SQOAuthError) -> SQOAuthError? {
    let failure = await Self.failure { () throws(SQOAuthError) in try await revoke(by: settings) }
    if let failure {
      if failure.code == .sessionReplaced { throw failure }
      // A failed revocation takes over nothing from the store. A cancellation must not prevent the
      // look, because the user of a new sign-in must not be signed out.
      _ = await uncancelled { [session] in await session.lookAtStore() }
    }
    let current = session.owner
    guard current.isSignedIn, !owner.lasts(until: current) else { return failure }
    var error = SQOAuthError.signInReplaced(ofAccount: accountID, cause: failure)
    let result =
      failure.map { "the tokens of the earlier sign-in were not revoked (\($0.message))" }
      ?? "the server has revoked the tokens of the earlier sign-in"
    error.message = "\(result): \(error.message)"
    throw error
  }

  fileprivate static func failure(
    of work: () async throws(SQOAuthError) -> some Any
  ) async -> SQOAuthError? {
    do throws(SQOAuthError) {
      _ = try await work()
      return nil
    } catch {
      return error
    }
  }
}
