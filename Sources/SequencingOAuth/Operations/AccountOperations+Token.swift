import SQBasics

// MARK: - The current token

extension AccountOperations {
  /// The current token, which may have expired; `nil` if there is none.
  public var currentToken: SQToken? { module.session.token }

  /// The current token if it is valid now, otherwise `nil`; reading it never waits.
  ///
  /// It is also `nil` if the token belongs to another client or server than the registered one.
  /// A token that can be refreshed counts as expired early: by a tenth of its lifetime, and by 30 s
  /// at most.
  public var validToken: SQToken? { module.heldToken }

  /// Whether there is a token of the registered client that has not expired.
  public var isAuthorized: Bool { module.session.isAuthorized }

  /// Returns a new stream of the session's events from now on, such as refreshes.
  ///
  /// The stream ends after the module was released, when a refresh or a save that is still under
  /// way has ended. If the reader is slow, the stream keeps the
  /// newest 100 events and drops older ones.
  public func events() -> AsyncStream<SessionEvent> {
    module.session.observers.stream(atMost: 100)
  }
}

extension AuthorizationModule {
  /// The header fields for a request with the current token; `nil` if that token is not valid.
  ///
  /// It is also `nil` for a token that is bound to a key, because each request needs its own proof:
  /// use ``AccountOperations/authorization(for:method:)``.
  public var authorizationFields: [String: String]? {
    guard let token = session.validToken, !token.isBound else { return nil }
    let fields = requestAuthenticator.headerFields(for: token)
    return Dictionary(fields.map { ($0.name, $0.value) }) { first, _ in first }
  }
}

// MARK: - Getting a valid token

extension AccountOperations {
  /// Returns a valid token, the current one or a refreshed one; never opens a browser.
  ///
  /// If no token is in memory, this method reads the store. If the task is cancelled or
  /// ``ClientConfiguration/timeout`` passes, only the wait ends. The refresh continues, because its
  /// response may be the only copy of the next refresh token, and a later call gets the new token.
  /// Before the program ends, call ``flush()``.
  ///
  /// If another user signs in while this call waits, it returns that user's token. A request by
  /// ``send(_:)`` fails in this case.
  ///
  /// - Throws: ``SQOAuthError``: ``SQOAuthError/Code/notAuthorized`` if there is no token, or if
  ///   the token has expired and cannot be refreshed; ``SQOAuthError/Code/invalidConfiguration`` if
  ///   the token belongs to another client or server than the registered one;
  ///   ``SQOAuthError/Code/requestTimedOut`` if the refresh, or an earlier change of the account in
  ///   the store, takes longer than this call may wait; the store's error if the account cannot be
  ///   read; otherwise the reason why the refresh failed.
  public func token() async throws(SQOAuthError) -> SQToken {
    if let token = module.heldToken { return token }
    return try await module.session.token(.valid)
  }

  /// Gets a fresh token without a browser, even if the current one is valid.
  ///
  /// If a refresh is under way, this call joins it. It waits no longer than ``token()`` does.
  @discardableResult
  public func refresh() async throws(SQOAuthError) -> SQToken {
    try await module.session.token(.new(since: module.session.renewals))
  }

  /// Returns when no token request is under way and the store has the newest token.
  ///
  /// Call it before the program ends. Otherwise the tokens in the server's response could be lost,
  /// tokens for a cancelled sign-in would not be revoked, and other hosts would wait for the
  /// account. The call does not wait for a user who has not answered yet, because that sign-in has
  /// no token. Cancelling the task does not end the call.
  ///
  /// A refresh that was sent ends within 100 s. The token request of a sign-in or of another grant
  /// gets 100 s from the beginning of this call until its tokens are stored or revoked. A sign-out
  /// or a new token waits up to 120 s for another process that uses the account. If the store could
  /// not save a one-time refresh token, the SDK tries again every second for 30 s. Releasing the
  /// leases in a database and notifying the other hosts takes at most 5 s. A refresh that has not
  /// been sent, because another process uses the account, fails with
  /// ``SQOAuthError/Code/accountInUse``; no token is lost in this case.
  ///
  /// - Throws: ``SQOAuthError``: the reason why the newest token could not be stored (it is lost
  ///   when the program ends), or why the store still has an account that was signed out.
  public func flush() async throws(SQOAuthError) {
    try await module.session.flushWithRequests()
  }

  /// Gets a valid token: the current one, a refreshed one, or one from a sign-in in the browser.
  ///
  /// The browser opens if there is no token, or if the refresh fails with an error whose
  /// ``SQOAuthError/requiresSignIn`` is `true`. Any other error of the refresh is thrown. For a
  /// client with ``ClientConfiguration/usesClientCredentials``, the browser never opens, and each
  /// error is thrown. If many callers need the browser at the same time, it opens once for all of
  /// them.
  ///
  /// If the app signs the user out during this call, the browser does not open, and the call fails
  /// with ``SQOAuthError/Code/notAuthorized`` or ``SQOAuthError/Code/cancelled``. It does not open for
  /// an account of another client or server than the registered one either, because a sign-in would
  /// replace that account: the error is ``SQOAuthError/Code/invalidConfiguration``, as after a
  /// restart. Call ``signIn()`` to replace the account.
  @discardableResult
  public func requestAccess() async throws(SQOAuthError) -> SQToken {
    try await module.access(SignIn.Request(), of: module.session.owner).token
  }

  /// Loads the account's record from the store, and returns whether there is a token now.
  ///
  /// ``token()`` does this automatically; call this method if the app must know at launch.
  @discardableResult
  public func restore() async throws(SQOAuthError) -> Bool {
    if module.session.token != nil { return true }
    return try await module.session.restore()
  }
}

extension AuthorizationModule {
  /// Gets a valid token in any possible way, for an operation that began when `owner` was signed in.
  ///
  /// If the app has ended the session since then, the user is not asked to sign in.
  ///
  /// - Returns: The token, and who must have signed in for a request to carry it: `owner`, or the
  ///   user of a sign-in that this call needed. The token may be another user's.
  func access(
    _ request: SignIn.Request, on screen: SignIns.Screen? = nil, of owner: RequestOwner
  ) async throws(SQOAuthError) -> (token: SQToken, owner: RequestOwner) {
    var (request, owner) = (request, owner)
    request.appEndCount = owner.appEndCount
    while true {
      let endCount = signIns.endCount
      do throws(SQOAuthError) {
        return (try await token(), owner)
      } catch {
        guard error.requiresSignIn, !context.usesClientCredentials,
          session.appEndCount == owner.appEndCount
        else { throw error }
        // Another caller may have signed the user in meanwhile.
        if let signedIn = try await signIn(request, since: endCount, on: screen) {
          return (signedIn.token, owner.following(signedIn))
        }
        owner = owner.following(session.owner)
      }
    }
  }

  /// Makes the access token count as expired, so that its next use refreshes it.
  ///
  /// Call it if the app learns from a resource server that the token is no longer valid.
  public func invalidateAccessToken() {
    session.invalidate()
  }
}

// MARK: - The timer

extension AccountOperations {
  /// Whether the module refreshes the token automatically before it expires.
  ///
  /// The refresh starts when 11 to 12 percent of the token's lifetime is left, but no earlier than
  /// 550 to 600 s before the expiry. The exact moment is random, so that a server's clients do not
  /// all send their requests at the same time. After a failure the module waits 1 s, then 2 s, up
  /// to 60 s, or as long as the server asks, up to one hour, and tries again. The timer stops when
  /// the session ends and when the module is released. Time during which the machine is suspended
  /// counts.
  public var refreshesAutomatically: Bool {
    get { module.session.isUpdating }
    set { module.session.updates(newValue) }
  }
}
