import SQBasics
import SQFoundation

/// The authorization code grant with PKCE: one sign-in, from the configuration to the token.
///
/// - SeeAlso: RFC 6749, section 4.1; RFC 7636; RFC 8252
struct AuthorizationCodeGrant: Sendable {
  let client: RegisteredClient
  let accountID: String
  let options: SignInOptions
  /// The token requests of cancelled sign-ins; their tokens are revoked.
  let abandoned: AbandonedTokens
  /// The closure that gets the sign-in before the browser opens, so that the app can pass a
  /// redirect to it.
  let isWaiting: @Sendable (PendingAuthorization) -> Void
  /// The closure that stores the token; an error that it throws is the sign-in's error.
  let keep: @Sendable (SQToken) async throws(SQOAuthError) -> Void

  /// Signs the user in and returns the token.
  func run() async throws(SQOAuthError) -> SQToken {
    // Errors of the configuration are thrown before the user sees a page.
    let grant = try PreparedCodeGrant(options, client)
    let wait = try RedirectWait(
      grant.redirect, client, acceptsForms: grant.question.asksForForm)
    let page = OneShot<LandingPage>()
    let answered = OneShot<Void>()
    let outcome: Result<SQToken, SQOAuthError>
    do throws(SQOAuthError) {
      let token = try await token(grant, wait, page, answered)
      try await keep(token)
      outcome = .success(token)
    } catch {
      outcome = .failure(error)
    }
    page.resolve(LandingPage(outcome: outcome))
    await wait.end(isAnswered: answered.current != nil)
    return try outcome.get()
  }

  private func token(
    _ grant: PreparedCodeGrant, _ wait: RedirectWait, _ page: OneShot<LandingPage>,
    _ answered: OneShot<Void>
  ) async throws(SQOAuthError) -> SQToken {
    let request = try CodeRequest(grant, client, redirectURI: wait.redirectURI)
    let url = try await request.url(of: grant, by: client)
    let pending = PendingAuthorization(request.expectation)
    wait.receiver?.deliver {
      await LandingPage(for: pending.offer($0), outcome: page, by: environment.clock)
    }
    isWaiting(pending)
    defer { if pending.isAnswered { answered.resolve(()) } }

    let validator = grant.question.validator
    // While the user is at the provider, there is time to fetch its keys.
    let preparation = Task { await validator?.signatures.prepare() }
    defer { preparation.cancel() }
    let response = try await answer(pending, opening: url, wait)
    return try await request.redeem(response, by: client, validator, abandoned)
  }

  private func answer(
    _ pending: PendingAuthorization, opening url: URL, _ wait: RedirectWait
  ) async throws(SQOAuthError) -> AuthorizationResponse {
    guard !Task.isCancelled else { throw .signInCancelled }
    // A redirect that comes after a cancellation then gets the page for late redirects.
    defer { pending.end(.signInCancelled) }
    let reporting = Task {
      guard let error = await pending.unboundError.value() else { return }
      environment.userAgent.didRefuse(error, for: question(pending))
    }
    defer { reporting.cancel() }
    return try await wait.response(pending.response) {
      await open(url, pending)
    } atTimeout: {
      pending.endByTimeout(
        after: configuration.signInTimeout, receiver: wait.receiver == nil ? .app : .sdk,
        turnedAway: wait.receiver?.turnedAway ?? 0, refused: wait.receiver?.refused?.explanation)
    }
  }

  /// Opens the browser.
  ///
  /// An error ends the sign-in, unless it has already ended.
  private func open(_ url: URL, _ pending: PendingAuthorization) async {
    do {
      // The sign-in may have ended before this task began.
      try Task.checkCancellation()
      try await environment.userAgent.open(url, for: question(pending))
    } catch {
      pending.end(SQOAuthError(userAgent: error, secrets: [pending.expectation.state]))
    }
  }

  private func question(_ pending: PendingAuthorization) -> PendingSignIn {
    PendingSignIn(pending, clientID: configuration.clientID, accountID: accountID)
  }

  private var configuration: ClientConfiguration { client.configuration }
  private var environment: ClientEnvironment { client.environment }
}
