import Basics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The authorization code grant with PKCE: one sign-in, from the configuration to the token.
///
/// - SeeAlso: RFC 6749, section 4.1; RFC 7636; RFC 8252
struct AuthorizationCodeGrant: Sendable {
  let client: RegisteredClient
  let accountID: String
  let options: SignInOptions
  /// Gets the sign-in before the browser opens, so that the app can pass a redirect to it.
  let isWaiting: @Sendable (PendingAuthorization) -> Void
  /// Stores the token; an error that it throws becomes the sign-in's error.
  let keep: @Sendable (SQToken, RegisteredClient) async throws(SQOAuthError) -> Void

  /// Signs the user in and returns the token.
  func run() async throws(SQOAuthError) -> SQToken {
    // Errors of the configuration come first, before the user sees a page.
    _ = try client.clientAuthentication()
    try checkPKCE()
    let question = try SignInQuestion(options, client)
    guard let redirect = configuration.redirectURI else {
      throw SQOAuthError(
        .invalidConfiguration, "the client has no redirect URI, so it cannot sign users in")
    }
    guard let authorizationEndpoint = metadata.authorizationEndpoint else {
      throw SQOAuthError(
        .invalidConfiguration,
        "the provider has no authorization endpoint, to which users go to sign in")
    }

    let wait = try RedirectWait(
      redirect, client, acceptsForms: options.responseMode == .formPost)
    let page = OneShot<LandingPage>()
    let outcome: Result<SQToken, SQOAuthError>
    do throws(SQOAuthError) {
      let token = try await token(question, authorizationEndpoint, wait, page)
      try await keep(token, client)
      outcome = .success(token)
    } catch {
      outcome = .failure(error)
    }
    page.resolve(LandingPage(outcome: outcome))
    await wait.receiver?.stop()
    return try outcome.get()
  }

  private func token(
    _ question: SignInQuestion, _ authorizationEndpoint: URL, _ wait: RedirectWait,
    _ page: OneShot<LandingPage>
  ) async throws(SQOAuthError) -> SQToken {
    let pkce = PKCE()
    let state = RandomString.make()
    let pending = PendingAuthorization(
      AuthorizationResponse.Expectation(
        redirectURI: wait.redirectURI, state: state, issuer: metadata.issuer,
        requiresIssuer: metadata.sendsIssuerInResponse,
        allowsPages: !question.forbidsPages))
    wait.receiver?.deliver {
      await LandingPage(for: pending.offer($0), outcome: page, by: environment.clock)
    }
    isWaiting(pending)

    let request = AuthorizationRequest(
      endpoint: authorizationEndpoint, clientID: configuration.clientID,
      redirectURI: wait.redirectURI, scope: question.scope, state: state, nonce: question.nonce,
      pkce: pkce, extraParameters: question.parameters)
    let url = try request.url()
    // While the user is at the provider, there is time to fetch its keys.
    let preparation = Task { await question.validator?.signatures.prepare() }
    defer { preparation.cancel() }
    let response = try await answer(pending, opening: url, wait)
    return try await redeem(response, question, wait.redirectURI, pkce)
  }

  private func answer(
    _ pending: PendingAuthorization, opening url: URL, _ wait: RedirectWait
  ) async throws(SQOAuthError) -> AuthorizationResponse {
    guard !Task.isCancelled else { throw .signInCancelled }
    // A redirect that comes after a cancellation then gets the answer that it is too late.
    defer { pending.end(.signInCancelled) }
    return try await wait.response(pending.response) {
      await open(url, pending)
    } atTimeout: {
      pending.endByTimeout(
        after: configuration.signInTimeout, receiver: wait.receiver == nil ? .app : .sdk,
        turnedAway: wait.receiver?.turnedAway ?? 0)
    }
  }

  /// Opens the browser; an error ends the sign-in, unless it has ended already.
  private func open(_ url: URL, _ pending: PendingAuthorization) async {
    do {
      // The sign-in may have ended before this task began.
      try Task.checkCancellation()
      try await environment.userAgent.open(
        url,
        for: PendingSignIn(pending, clientID: configuration.clientID, accountID: accountID))
    } catch {
      pending.end(SQOAuthError(userAgent: error, secrets: [pending.expectation.state]))
    }
  }

  private func redeem(
    _ response: AuthorizationResponse, _ question: SignInQuestion, _ redirectURI: String,
    _ pkce: PKCE
  ) async throws(SQOAuthError) -> SQToken {
    let issued = try await client.token(
      [
        .init("grant_type", "authorization_code"),
        .init("code", response.code),
        .init("redirect_uri", redirectURI),
        .init("code_verifier", pkce.verifier),
      ], scope: question.scope)
    try client.checkScope(of: issued.token)
    return try await question.identify(issued, code: response.code)
  }

  private var configuration: ClientConfiguration { client.configuration }
  private var environment: ClientEnvironment { client.environment }
  private var metadata: ProviderMetadata { client.metadata }

  /// RFC 9700, section 2.1.1: without S256 anyone could redeem a stolen code.
  private func checkPKCE() throws(SQOAuthError) {
    guard let methods = metadata.codeChallengeMethods, !methods.contains(PKCE.method),
      !configuration.acceptsServersWithoutPKCE
    else { return }
    throw SQOAuthError(
      .pkceUnsupported,
      "the server's metadata does not list the code challenge method S256; "
        + "set acceptsServersWithoutPKCE if you accept that")
  }
}
