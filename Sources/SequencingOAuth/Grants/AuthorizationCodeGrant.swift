import SQBasics
import SQFoundation

/// The authorization code grant with PKCE: one sign-in, from the configuration to the token.
///
/// - SeeAlso: RFC 6749, section 4.1; RFC 7636; RFC 8252
struct AuthorizationCodeGrant: Sendable {
  let client: RegisteredClient
  let accountID: String
  let options: SignInOptions
  /// The token requests under way; a cancelled sign-in's tokens are revoked.
  let tokenRequests: TokenRequests
  /// The closure that gets the pending sign-in before the browser opens, so that the app can pass
  /// the redirect to this sign-in.
  let isWaiting: @Sendable (PendingAuthorization) -> Void
  /// The closure that stores the token; if it throws an error, the sign-in fails with that error.
  let keep: @Sendable (SQToken) async throws(SQOAuthError) -> Void
  private let requests = AuthorizationRequests()

  /// Signs the user in and returns the token.
  func run() async throws(SQOAuthError) -> SQToken {
    // Errors of the configuration are thrown before the user sees a page.
    let grant = try PreparedCodeGrant(options, client)
    let wait = try RedirectWait(
      grant.redirect, client, acceptsForms: grant.question.asksForForm)
    let page = OneShot<LandingPage>()
    let answered = OneShot<Void>()
    wait.receiver?.deliver { [requests, clock = environment.clock] redirect in
      await LandingPage(for: requests.offer(redirect), outcome: page, by: clock)
    }
    let outcome = await Result.of { () throws(SQOAuthError) in
      try await token(grant, wait, answered)
    }
    page.resolve(LandingPage(outcome: outcome))
    await wait.end(isAnswered: answered.current != nil)
    return try outcome.get()
  }

  /// Returns the stored token; if the server rejects the pushed parameters as expired, pushes new
  /// ones once.
  ///
  /// - SeeAlso: RFC 9126, section 4
  private func token(
    _ grant: PreparedCodeGrant, _ wait: RedirectWait, _ answered: OneShot<Void>
  ) async throws(SQOAuthError) -> SQToken {
    do throws(SQOAuthError) {
      return try await requestedToken(grant, wait, answered)
    } catch {
      guard grant.pushEndpoint != nil, error.isOfUnknownRequest, !Task.isCancelled else {
        throw error
      }
      return try await requestedToken(grant, wait, answered)
    }
  }

  /// Makes one authorization request, redeems its response, and stores the token.
  private func requestedToken(
    _ grant: PreparedCodeGrant, _ wait: RedirectWait, _ answered: OneShot<Void>
  ) async throws(SQOAuthError) -> SQToken {
    let request = try CodeRequest(grant, client, redirectURI: wait.redirectURI)
    let url = try await request.url(of: grant, by: client)
    var expectation = request.expectation
    expectation.secrets += SQOAuthError.secrets(inPage: url)
    let pending = PendingAuthorization(expectation, told: telling(environment))
    requests.add(pending)
    isWaiting(pending)
    defer { if pending.isAnswered { answered.resolve(()) } }

    let validator = grant.question.validator
    // While the user is at the provider, there is time to fetch its keys.
    let preparation = Task { await validator?.signatures.prepare() }
    defer { preparation.cancel() }
    let response = try await answer(pending, opening: url, wait)
    return try await request.redeem(response, by: client, validator, tokenRequests, keep: keep)
  }

  private func answer(
    _ pending: PendingAuthorization, opening url: URL, _ wait: RedirectWait
  ) async throws(SQOAuthError) -> AuthorizationResponse {
    guard !Task.isCancelled else { throw .signInCancelled }
    // After a cancellation, this makes a later redirect get the page for late redirects.
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
  /// An error ends the sign-in, unless the sign-in has already ended.
  private func open(_ url: URL, _ pending: PendingAuthorization) async {
    do {
      // The sign-in may have ended before this task began.
      try Task.checkCancellation()
      environment.tell(.pageOpened)
      try await environment.userAgent.open(url, for: question(pending))
    } catch {
      pending.end(SQOAuthError(userAgent: error, opening: url))
    }
  }

  private func question(_ pending: PendingAuthorization) -> PendingSignIn {
    PendingSignIn(pending, clientID: configuration.clientID, accountID: accountID)
  }

  private var configuration: ClientConfiguration { client.configuration }
  private var environment: ClientEnvironment { client.environment }
}

/// The authorization requests of one sign-in; the last one waits for its redirect.
private final class AuthorizationRequests: Sendable {
  private let all = Locked<[PendingAuthorization]>([])

  func add(_ request: PendingAuthorization) { all.withLock { $0.append(request) } }

  /// Offers a redirect to the last request, or to an earlier request whose redirect the browser
  /// repeats.
  func offer(_ redirect: String) -> PendingAuthorization.OfferResult {
    let requests = all.withLock(\.self)
    let result = requests.last?.offer(redirect) ?? .notAddressed
    guard result == .wrongState else { return result }
    return requests.dropLast().map { $0.recall(redirect) }.first(where: \.isAnswer) ?? result
  }
}

extension SQOAuthError {
  /// Whether the authorization endpoint did not know the `request_uri` of a pushed request.
  ///
  /// Errors from this endpoint come in redirects, which have no status. An error with a status
  /// comes from a different endpoint.
  fileprivate var isOfUnknownRequest: Bool { code == .invalidRequestURI && status == nil }
}
