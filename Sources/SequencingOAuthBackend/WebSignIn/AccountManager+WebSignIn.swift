import SQBasics
public import SequencingOAuth

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

// Sign-ins of a web application's users, whose browsers are elsewhere.
extension AccountManager {
  /// Begins the sign-in of a web application's user.
  ///
  /// Send the user's browser to the URL, and keep the ``WebSignIn`` until the browser comes back to
  /// the client's redirect URI, which the application serves itself. The SDK keeps nothing in the
  /// meantime, so any number of sign-ins can be under way. Any thread or task may call this. The
  /// server's metadata is fetched if it is not known or no longer fresh, within
  /// ``ClientConfiguration/timeout``.
  ///
  /// - Throws: ``SQOAuthError``: the reason why the configuration or the options cannot be used, or
  ///   why the metadata could not be fetched.
  /// - SeeAlso: RFC 6749, section 4.1.1
  public func beginSignIn(
    _ configuration: ClientConfiguration, with options: SignInOptions = SignInOptions()
  ) async throws(SQOAuthError) -> (url: URL, signIn: WebSignIn) {
    try await grant(configuration).begin(options)
  }

  /// Finishes a sign-in with the redirect to the application, on any host, and stores the account.
  ///
  /// `redirect` is the whole URL that the browser requested, with the scheme and the host under
  /// which the browser knows the application. It passes every check of a sign-in on the user's own
  /// machine: `state`, `iss`, PKCE, and the ID token with its `nonce`. The account gets the id that
  /// `id` makes of the token; by default it is `SUBJECT at ISSUER`, from the ID token. A token that
  /// the account had before is replaced.
  ///
  /// The manager does not keep the returned module. A sign-in counts once, as far as
  /// ``ClientEnvironment/oneTimeValues`` remembers, and also because a server accepts a code once.
  /// Remove the kept value in any case. While a call is under way, another call of this manager for
  /// the same redirect waits for it and returns its module: a user who reloads the page is signed in.
  ///
  /// The store is asked before the code is sent, so that a store that fails costs no sign-in. If it
  /// fails after that, the call tries for 10 s to store the token, and up to two minutes longer
  /// while another process changes the account. Cancelling the task does not end the call.
  ///
  /// - Returns: The account's module, whose token the store has.
  /// - Throws: ``SQOAuthError``: ``SQOAuthError/Code/stateMismatch`` or
  ///   ``SQOAuthError/Code/invalidAuthorizationResponse`` if the redirect does not answer this
  ///   sign-in; ``SQOAuthError/Code/timedOut`` if it comes too late;
  ///   ``SQOAuthError/Code/webSignInUsed`` if it comes again;
  ///   ``SQOAuthError/Code/webSignInInvalid`` if the sign-in is of another client or server;
  ///   ``SQOAuthError/Code/duplicateName`` if the manager has the account's module for another client
  ///   or another server; the server's error, such as ``SQOAuthError/Code/accessDenied``; the
  ///   store's error.
  /// - SeeAlso: RFC 6749, sections 4.1.2 to 4.1.4; RFC 9207
  public func finishSignIn(
    _ signIn: WebSignIn, redirect: String, _ configuration: ClientConfiguration,
    id: ((SQToken) -> String)? = nil
  ) async throws(SQOAuthError) -> AuthorizationModule {
    let answer = WebSignInAnswer(
      signIn: signIn, redirect: redirect, configuration: configuration)
    return try await webSignIns.run(for: answer) { () throws(SQOAuthError) in
      let finish = WebSignInFinish(manager: self, signIn: signIn, configuration: configuration)
      let (token, client) = try await finish.token(redirect: redirect, hasID: id != nil)
      return try await finish.store(token, from: client, id: id.map { $0(token) })
    }
  }

  /// Finishes a sign-in whose answer was posted to the application.
  ///
  /// It is for a sign-in with ``SignInOptions/ResponseMode/formPost``. `form` is the body of the
  /// POST; otherwise it does what ``finishSignIn(_:redirect:_:id:)`` does. The browser sends no
  /// `SameSite=Lax` cookie with such a POST. So the cookie that holds the sign-in and the cookie of
  /// the browser's session must both be `SameSite=None; Secure`.
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
        .invalidAuthorizationResponse, "the body of the request is no form of an answer")
    }
    return try await finishSignIn(signIn, redirect: redirect, configuration, id: id)
  }

  func grant(
    _ configuration: ClientConfiguration
  ) async throws(SQOAuthError) -> WebCodeGrant {
    WebCodeGrant(
      client: try await ClientContext(.success(configuration), environment)
        .client(for: .strangers),
      oneTimeValues: environment.sharedOneTimeValues)
  }
}

/// A redirect that answers a web sign-in, to be finished for one client.
///
/// A user who reloads a blank page, or a browser that tries again after a lost connection, sends the
/// same redirect again, and nobody sees the page of the first request. So the second request gets
/// the result of the first one.
private struct WebSignInAnswer: Hashable, Redacted {
  let signIn: WebSignIn
  let redirect: String
  let configuration: ClientConfiguration

  var description: String { "answer to the \(signIn)" }
}
