import Basics
import LoopbackHTTP

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

    let receiver: LoopbackRedirectReceiver? =
      switch redirect.kind {
      case .loopback(let redirect):
        try LoopbackRedirectReceiver(
          redirect, style: environment.landingPage, acceptsForms: options.responseMode == .formPost)
      case .app: nil
      }
    let page = OneShot<LandingPage>()
    let outcome: Result<SQToken, SQOAuthError>
    do throws(SQOAuthError) {
      let token = try await token(
        question, authorizationEndpoint, receiver, receiver?.redirectURI ?? redirect.string, page)
      try await keep(token, client)
      outcome = .success(token)
    } catch {
      outcome = .failure(error)
    }
    page.resolve(LandingPage(outcome: outcome))
    await receiver?.stop()
    return try outcome.get()
  }

  private func token(
    _ question: SignInQuestion, _ authorizationEndpoint: URL, _ receiver: LoopbackRedirectReceiver?,
    _ redirectURI: String,
    _ page: OneShot<LandingPage>
  ) async throws(SQOAuthError) -> SQToken {
    let pkce = PKCE()
    let state = RandomString.make()
    let pending = PendingAuthorization(
      AuthorizationResponse.Expectation(
        redirectURI: redirectURI, state: state, issuer: metadata.issuer,
        requiresIssuer: metadata.sendsIssuerInResponse,
        allowsPages: !question.forbidsPages))
    receiver?.deliver {
      await LandingPage(for: pending.offer($0), outcome: page, by: environment.clock)
    }
    isWaiting(pending)

    let request = AuthorizationRequest(
      endpoint: authorizationEndpoint, clientID: configuration.clientID,
      redirectURI: redirectURI, scope: question.scope, state: state, nonce: question.nonce,
      pkce: pkce, extraParameters: question.parameters)
    let url = try request.url()
    // While the user is at the provider, there is time to fetch its keys.
    let preparation = Task { await question.validator?.signatures.prepare() }
    defer { preparation.cancel() }
    let response = try await answer(pending, opening: url, receiver)
    return try await redeem(response, question, redirectURI, pkce)
  }

  /// Opens the browser and waits for the redirect, the time limit or a cancellation.
  private func answer(
    _ pending: PendingAuthorization, opening url: URL, _ receiver: LoopbackRedirectReceiver?
  ) async throws(SQOAuthError) -> AuthorizationResponse {
    guard !Task.isCancelled else { throw .signInCancelled }
    let opening = Task {
      do {
        // The sign-in may have ended before this task began.
        try Task.checkCancellation()
        try await environment.userAgent.open(
          url,
          for: PendingSignIn(
            pending, clientID: configuration.clientID, accountID: accountID))
      } catch is CancellationError {
        // The user agent cancelled; this does nothing if the sign-in has already ended.
        pending.end(.signInCancelled)
      } catch let error as SQOAuthError {
        pending.end(error)
      } catch {
        pending.end(.userAgentFailed(error, state: pending.expectation.state))
      }
    }
    let timeout = configuration.signInTimeout
    let deadline = environment.clock.now.addingTimeInterval(timeout.seconds)
    let ending = Task {
      try await environment.clock.sleep(until: deadline)
      // A process that was suspended may not have read an answer that came in time.
      await receiver?.settle()
      pending.endByTimeout(
        after: timeout, receiver: receiver == nil ? .app : .sdk,
        turnedAway: receiver?.turnedAway ?? 0)
    }
    defer {
      opening.cancel()
      ending.cancel()
      // A redirect that comes after a cancellation then gets the answer that it is too late.
      pending.end(.signInCancelled)
    }
    return try await pending.response()
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

extension SQOAuthError {
  /// The sign-in's error after the user agent threw an error that is not the SDK's.
  ///
  /// The message repeats only a text that was written to be shown; other texts could contain
  /// anything.
  fileprivate static func userAgentFailed(_ error: any Error, state: String) -> SQOAuthError {
    let isRefusal = (error as? any SignInPageError)?.isEndOnPage == true
    var message = "the browser did not open"
    if let reason = (error as? any LocalizedError)?.errorDescription {
      let text = SentSecrets([state]).removed(from: reason)
      message = (isRefusal ? "" : "the user agent failed: ") + text.printable
    }
    return SQOAuthError(
      isRefusal ? .signInRefused : .browserUnavailable, message, cause: error)
  }
}
