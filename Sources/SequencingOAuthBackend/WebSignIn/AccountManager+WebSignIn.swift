import SQBasics
public import SQFoundation
public import SequencingOAuth

// Sign-ins of a web application's users.
extension AccountManager {
  /// Begins the sign-in of a web application's user.
  ///
  /// Send the user's browser to the URL, and save the ``WebSignIn`` until the browser comes back to
  /// the client's redirect URI. The application serves that URI itself. The SDK saves nothing in
  /// the meantime, so any number of sign-ins can be in progress. Any thread or task may call this
  /// method. The call fetches the server's metadata unless fresh metadata is in memory, and pushes
  /// the authorization request (RFC 9126) if the configuration or the server demands that. The time
  /// limit of these requests is `ClientConfiguration.timeout`.
  ///
  /// The account is not known before ``finishSignIn(_:redirect:_:id:)``, so there is no user to
  /// compare with: options with `SignInOptions.requiresSameUser` are rejected.
  ///
  /// - Throws: `SQOAuthError` if the configuration, the options or the server cannot be used for
  ///   the sign-in, if the metadata cannot be fetched, or if the request cannot be pushed.
  /// - SeeAlso: RFC 6749, section 4.1.1
  public func beginSignIn(
    _ configuration: ClientConfiguration, with options: SignInOptions = SignInOptions()
  ) async throws(SQOAuthError) -> (url: URL, signIn: WebSignIn) {
    guard !options.requiresSameUser, options.requiredUser == nil else {
      throw SQOAuthError(
        .invalidConfiguration,
        "a web application's sign-in cannot require the same user (requiresSameUser), because it "
          + "has no account before its end: leave the option out, and compare the ID token of the "
          + "account that finishSignIn returns with the user whom you expect")
    }
    return try await grant(configuration, scope: options.scope).begin(options)
  }

  /// Finishes a sign-in with the redirect to the application, and stores the account.
  ///
  /// Any host of the application may call this method. `redirect` is the whole URL that the browser
  /// requested, with the scheme and the host that the browser uses for the application. The
  /// redirect must pass the same checks as in a sign-in on the user's own machine: `state`, `iss`,
  /// PKCE, and the ID token with its `nonce`. The closure `id` returns the account's id for the
  /// token; by default the id is `SUBJECT at ISSUER`, from the ID token. The new token replaces an
  /// earlier token of the account.
  ///
  /// The manager does not keep the returned module. A sign-in can be finished once:
  /// `ClientEnvironment.oneTimeValues` remembers it, and a server accepts a code only once. Remove
  /// the saved ``WebSignIn`` whether or not the call succeeds. While a call is running, another
  /// call of this manager for the same redirect waits for it and returns its module, so a user who
  /// reloads the page is signed in.
  ///
  /// The call checks the store before it sends the code, so that a failing store does not use up
  /// the code. If the store fails after that, the call tries for 10 s to store the token, and up to
  /// two minutes longer while another process changes the account. Cancelling the task does not end
  /// the call. `AccountManager.flush()` waits for its end.
  ///
  /// - Returns: The account's module; its token is in the store.
  /// - Throws: `SQOAuthError`: `SQOAuthError.Code.stateMismatch` or
  ///   `SQOAuthError.Code.invalidAuthorizationResponse` if the redirect does not answer this
  ///   sign-in; `SQOAuthError.Code.timedOut` if it comes too late;
  ///   `SQOAuthError.Code.webSignInUsed` if the sign-in was finished before;
  ///   `SQOAuthError.Code.webSignInInvalid` if the sign-in belongs to another client or server;
  ///   `SQOAuthError.Code.openIDUnsupported`, before the code is sent, if the provider's keys were
  ///   known when the sign-in began, and its metadata does not name them now;
  ///   `SQOAuthError.Code.duplicateName` if the manager's module for the account belongs to a
  ///   different client or server; the server's error, such as `SQOAuthError.Code.accessDenied`;
  ///   the store's error.
  /// - SeeAlso: RFC 6749, sections 4.1.2 to 4.1.4; RFC 9207
  public func finishSignIn(
    _ signIn: WebSignIn, redirect: String, _ configuration: ClientConfiguration,
    id: ((SQToken) -> String)? = nil
  ) async throws(SQOAuthError) -> AuthorizationModule {
    let answer = WebSignInAnswer(
      signIn: signIn, redirect: redirect, configuration: configuration)
    return try await webSignIns.run(for: answer) { () throws(SQOAuthError) in
      let finish = WebSignInFinish(manager: self, signIn: signIn, configuration: configuration)
      return try await environment.observing(.signIn(.webApplication)) {
        () throws(SQOAuthError) in
        // The end of the program must wait until the token is stored.
        try await tokenRequests.tracking { () throws(SQOAuthError) in
          let (token, client) = try await finish.token(redirect: redirect, hasID: id != nil)
          return try await finish.store(token, from: client, id: id.map { $0(token) })
        }
      }
    }
  }

  /// Finishes a sign-in with a form that the browser posted to the application.
  ///
  /// Use it for a sign-in with `SignInOptions.ResponseMode.formPost`. `form` is the body of the
  /// POST. Everything else is as for ``finishSignIn(_:redirect:_:id:)``. The browser sends no
  /// `SameSite=Lax` cookie with this POST. So if cookies hold the sign-in and the browser's
  /// session, both cookies must be `SameSite=None; Secure`.
  ///
  /// - SeeAlso: OAuth 2.0 Form Post Response Mode
  public func finishSignIn(
    _ signIn: WebSignIn, form: Data, _ configuration: ClientConfiguration,
    id: ((SQToken) -> String)? = nil
  ) async throws(SQOAuthError) -> AuthorizationModule {
    guard signIn.request.acceptsForm else {
      throw SQOAuthError(
        .invalidAuthorizationResponse,
        "the answer was posted, but the sign-in did not ask for the response mode form_post")
    }
    guard let redirect = PostedRedirect.url(form: form, at: signIn.request.redirectURI) else {
      throw SQOAuthError(
        .invalidAuthorizationResponse, "the posted answer to the sign-in is not a valid form")
    }
    return try await finishSignIn(signIn, redirect: redirect, configuration, id: id)
  }

  /// Returns the grant of a sign-in; `scope` is the scope that its options set, or `nil`.
  func grant(
    _ configuration: ClientConfiguration, scope: String?
  ) async throws(SQOAuthError) -> WebCodeGrant {
    WebCodeGrant(
      client: try await ClientContext(.success(configuration), environment)
        .client(for: .strangers, needs: RegisteredClient.metadataNeeds(ofScope: scope)),
      oneTimeValues: environment.sharedOneTimeValues, tokenRequests: tokenRequests)
  }
}

/// A web sign-in and the redirect that answers it: the key under which equal calls share one
/// result.
///
/// If the user reloads a blank page, or if the browser tries again after a lost connection, the
/// same redirect arrives again. The user does not see the page of the first request, so the second
/// request gets the same result.
private struct WebSignInAnswer: Hashable, Redacted {
  let signIn: WebSignIn
  let redirect: String
  let configuration: ClientConfiguration

  var description: String { "answer to the \(signIn)" }
}
