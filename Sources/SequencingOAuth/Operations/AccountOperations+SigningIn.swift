import SQBasics

/// Sign-ins with the browser, by the authorization code grant.
///
/// The new token replaces the current one. If the store cannot save it, the token stays in memory,
/// ``TokenRefreshDelegate`` and ``events()`` get the store's error, and the SDK tries again.
/// ``flush()`` throws as long as the store fails.
extension AccountOperations {
  /// Signs the user in with the browser, or joins the sign-in under way.
  ///
  /// Cancelling the task ends the wait, and also the sign-in if no other caller waits for it.
  ///
  /// - SeeAlso: RFC 6749, section 4.1
  @discardableResult
  public func signIn() async throws(SQOAuthError) -> SQToken {
    try await module.signIn(SignIn.Request())
  }

  /// Signs the user in with the browser, with options for this sign-in only.
  ///
  /// This call joins a sign-in in the browser that has the same options. It waits for the end of a
  /// silent sign-in, and fails with ``SQOAuthError/Code/signInUnderWay`` during any other sign-in.
  /// ``signIn()`` without options joins any sign-in except a silent one.
  ///
  /// - Throws: ``SQOAuthError``: ``SQOAuthError/Code/signInUnderWay`` during another sign-in;
  ///   ``SQOAuthError/Code/cancelled`` if the app or the user agent cancels the sign-in, or the app
  ///   ends the session meanwhile; ``SQOAuthError/Code/timedOut`` after
  ///   ``ClientConfiguration/signInTimeout``; ``SQOAuthError/Code/accessDenied`` if the user
  ///   refuses, or another code of the server; ``SQOAuthError/Code/browserUnavailable`` or
  ///   ``SQOAuthError/Code/portInUse`` if the browser or the redirect's port cannot be opened;
  ///   ``SQOAuthError/Code/idTokenSubject`` if another user than ``SignInOptions/requiresSameUser``
  ///   allows signs in; ``SQOAuthError/Code/storeFailed`` if the store could not save the token,
  ///   which is in use nevertheless; ``SQOAuthError/Code/invalidConfiguration`` if the
  ///   configuration allows no sign-in; the errors of the requests to the server.
  @discardableResult
  public func signIn(with options: SignInOptions) async throws(SQOAuthError) -> SQToken {
    try await module.signIn(SignIn.Request(place: .browser, options: options))
  }

  /// Signs the user in without asking anything, if the provider still knows the user.
  ///
  /// The browser may appear for a moment, to carry the request to the provider and back. The
  /// request names the user of the account's ``SQToken/idToken``, in memory or in the store, unless
  /// the options have an ``SignInOptions/idTokenHint``. If another client or server has been
  /// registered since that user's sign-in, the request names no user. A request that names the user
  /// is pushed if the server takes pushed requests. Otherwise the browser's command has the ID
  /// token in its URL, which other users of the machine can read.
  ///
  /// If the request names the account's user, only this user can be signed in, as with
  /// ``SignInOptions/requiresSameUser``: no page would show that another user is. The SDK sees this
  /// by the new ID token, so keep `openid` among the scopes.
  ///
  /// - Throws: ``SQOAuthError``: ``SQOAuthError/Code/loginRequired``,
  ///   ``SQOAuthError/Code/consentRequired`` or ``SQOAuthError/Code/interactionRequired`` if the
  ///   provider would have to ask the user, and ``SQOAuthError/Code/idTokenSubject`` if it signed
  ///   in another user; call ``signIn()`` then. Otherwise the errors of ``signIn(with:)``.
  /// - SeeAlso: OpenID Connect Core 1.0, section 3.1.2.1 (`prompt=none`)
  @discardableResult
  public func signInSilently(
    with options: SignInOptions = SignInOptions()
  ) async throws(SQOAuthError) -> SQToken {
    var options = options
    options.isSilent = true
    options.prompt = []
    return try await signIn(with: options)
  }

  /// Whether a sign-in is under way.
  public var isSigningIn: Bool { module.signIns.isUnderWay }

  /// Cancels the sign-in under way, if there is one; a redirect that comes later has no effect.
  ///
  /// A silent sign-in that it waits for is cancelled too. A sign-in whose token is being stored
  /// succeeds.
  public func cancelSignIn() {
    module.signIns.cancel()
  }
}

extension AuthorizationModule {
  func signIn(
    _ request: SignIn.Request, on screen: SignIns.Screen? = nil
  ) async throws(SQOAuthError) -> SQToken {
    try await signIns.token(request, on: screen) { await self.outcome(of: $0) }.token
  }

  /// Signs the user in, unless a sign-in has ended since the caller read `endCount`.
  ///
  /// If a sign-in has ended since then, the method throws that sign-in's error, or returns `nil` if
  /// that sign-in got a token.
  func signIn(
    _ request: SignIn.Request, since endCount: Int, on screen: SignIns.Screen?
  ) async throws(SQOAuthError) -> SignIn.Gain? {
    try await signIns.token(request, since: endCount, on: screen) { await self.outcome(of: $0) }
  }

  /// Starts a sign-in that continues even if no caller waits for it.
  func startSignIn(_ request: SignIn.Request) {
    signIns.start(request) { await self.outcome(of: $0) }
  }

  /// Reads the account's record with the app's attributes, and checks that the store can save a new
  /// token; returns the record.
  ///
  /// With a store that fails, the new token would be lost when the program ends. So this check runs
  /// before the browser opens, a password is sent or a device code is requested.
  @discardableResult
  package func checkStore() async throws(SQOAuthError) -> AccountRecord? {
    let record = try await session.account.check()
    if let record { context.resumeAttributes(of: record) }
    return record
  }

  /// Reads the app's attributes from the store, without checking that the store can save.
  package func readAttributes() async -> Result<Void, SQOAuthError> {
    await session.account.look().map { record in
      if let record { context.resumeAttributes(of: record) }
    }
  }

  private func outcome(of signIn: SignIn) async -> SignIn.Outcome {
    await .of { () throws(SQOAuthError) in
      try await environment.observing(.signIn(signIn.way), accountID: accountID) {
        () throws(SQOAuthError) in try await result(of: signIn).get()
      }
    }
  }

  private func result(of signIn: SignIn) async -> SignIn.Outcome {
    let appEndCount = signIn.appEndCount ?? session.appEndCount
    // The session may end during the sign-in, so the account's user is remembered from the start.
    let held = session.record
    let owner =
      signIn.options.requiresSameUser ? session.owner.continuing(signIn.options.series) : nil
    do throws(SQOAuthError) {
      guard !Task.isCancelled, session.appEndCount == appEndCount else { throw .signInCancelled }
      _ = try context.configuration.get()
      let stored = try await checkStore()
      let client = try await context.client(
        isFresh: true, needs: RegisteredClient.metadataNeeds(ofScope: signIn.options.scope))
      let terms = try SignInTerms(of: signIn.options, after: held, orStored: stored, by: client)
      return .success(
        try await run(signIn, terms.options, by: client) { token throws(SQOAuthError) in
          do throws(SQOAuthError) {
            try terms.check(token)
          } catch {
            self.tokenRequests.revoke(token, of: client)
            throw error
          }
          signIn.isKept(
            of: try await self.take(
              token, from: client, since: appEndCount, ofSameUserAs: owner))
        })
    } catch {
      return .failure(Task.isCancelled ? signIn.cancellation : error)
    }
  }

  private func run(
    _ signIn: SignIn, _ options: SignInOptions, by client: RegisteredClient,
    keep: @escaping @Sendable (SQToken) async throws(SQOAuthError) -> Void
  ) async throws(SQOAuthError) -> SQToken {
    let environment = environment
    switch signIn.place {
    case .browser:
      return try await AuthorizationCodeGrant(
        client: client, accountID: accountID, options: options, tokenRequests: tokenRequests,
        isWaiting: { signIn.isWaiting($0) }, keep: keep
      ).run()
    case .otherDevice:
      return try await DeviceGrant(
        client: try client.provingAnew(), options: options, tokenRequests: tokenRequests,
        show: { code in
          environment.tell(.codeShown)
          self.signIns.show(code, of: signIn)
        }, keep: keep
      ).run()
    }
  }
}
