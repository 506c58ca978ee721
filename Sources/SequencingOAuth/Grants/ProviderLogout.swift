import SQBasics
import SQCrypto
import SQFoundation

/// A logout at the provider, from the request in the browser to the redirect.
///
/// - SeeAlso: OpenID Connect RP-Initiated Logout 1.0
struct ProviderLogout: Sendable {
  let client: RegisteredClient
  let accountID: String
  let idToken: IDToken?
  let logoutHint: String?
  let uiLocales: [String]
  /// The closure that gets the pending logout before the browser opens, so that the app can pass
  /// the redirect to this logout.
  let isWaiting: @Sendable (PendingLogout) -> Void

  /// How long the user agent may take to fail; after this time, the page counts as open.
  private static let grace = Duration.seconds(5)

  /// Opens the browser, and waits for the redirect if the client has a redirect URI for logouts.
  func run() async throws(SQOAuthError) {
    guard let endpoint = try client.metadata.address(of: .endSession) else {
      throw SQOAuthError(
        .endSessionUnsupported,
        "the provider has no end session endpoint: the SDK has forgotten the tokens, but the user "
          + "is still logged in at the provider")
    }
    guard let redirect = client.configuration.postLogoutRedirectURI else {
      return try await openPage(try request(endpoint).url())
    }
    let wait = try RedirectWait(redirect, client)
    let outcome = await Result.of { () throws(SQOAuthError) in try await run(endpoint, wait) }
    await wait.end(isAnswered: outcome.error == nil)
    try outcome.get()
  }

  private func run(_ endpoint: URL, _ wait: RedirectWait) async throws(SQOAuthError) {
    let pending = PendingLogout(redirectURI: wait.redirectURI, state: RandomString.make())
    wait.receiver?.deliver { LandingPage(forLogout: pending.offer($0)) }
    isWaiting(pending)
    let url = try request(endpoint, pending).url()
    defer { pending.end(.waitCancelled) }
    try await wait.response(pending.response) {
      do throws(SQOAuthError) {
        try await open(url, pending)
      } catch {
        pending.end(error)
      }
    } atTimeout: {
      pending.end(.logoutTimedOut(wait.receiver?.refused))
    }
  }

  /// Opens the browser, and returns when the page is open.
  ///
  /// The user agent may wait until the user closes the browser. So the page counts as open if the
  /// user agent has not failed within ``grace``. The user agent may then continue until the time
  /// limit. A text browser has the program's terminal, so this method waits until the app has made
  /// the terminal ready and the user has left the browser, or ends the browser at the time limit.
  private func openPage(_ url: URL) async throws(SQOAuthError) {
    let (clock, timeout) = (client.environment.clock, client.configuration.signInTimeout)
    let (grace, limit) = (min(Self.grace, timeout), clock.now.addingTimeInterval(timeout.seconds))
    let textBrowser = TerminalBrowserWait(expectsRedirect: false)
    let opened = OneShot<Result<Void, SQOAuthError>>()
    let opening = Task {
      await TerminalBrowserWait.$current.withValue(textBrowser) {
        let outcome = await Result.of { () throws(SQOAuthError) in try await open(url, nil) }
        opened.resolve(outcome)
      }
    }
    let ending = Task {
      try await clock.sleep(for: grace)
      if textBrowser.isPreparing {
        Task {
          // If no text browser starts, the user agent may take as long again to fail.
          if await !textBrowser.hasStarted() { try? await clock.sleep(for: grace) }
          opened.resolve(.success(()))
        }
      } else {
        opened.resolve(.success(()))
      }
      try await clock.sleep(for: timeout - grace)
      // Before the cancellation, which the user agent would report as its error.
      opened.resolve(textBrowser.isPreparing ? .failure(.terminalNotReady) : .success(()))
      opening.cancel()
    }
    Task {
      await opening.value
      ending.cancel()
    }
    let outcome = await opened.value()
    if outcome == nil { opening.cancel() }
    await textBrowser.end { try? await clock.sleep(until: limit) }
    guard let outcome else { throw .waitCancelled }
    try outcome.get()
  }

  private func request(_ endpoint: URL, _ pending: PendingLogout? = nil) -> EndSessionRequest {
    EndSessionRequest(
      endpoint: endpoint, clientID: client.configuration.clientID,
      idTokenHint: idToken?.compactForm, redirectURI: pending?.redirectURI,
      state: pending?.state ?? "", logoutHint: logoutHint, uiLocales: uiLocales)
  }

  /// Opens the browser, and returns when the user agent has opened the page.
  private func open(_ url: URL, _ pending: PendingLogout?) async throws(SQOAuthError) {
    let question = PendingSignIn(
      accountID: accountID, clientID: client.configuration.clientID,
      issuer: client.metadata.issuer, redirectURI: pending?.redirectURI ?? "",
      offer: { pending?.offer($0) ?? .notAddressed })
    do {
      try await client.environment.userAgent.open(url, for: question)
    } catch {
      var failure = SQOAuthError(userAgent: error, opening: url)
      // Without a redirect URI, the user stays on the provider's page.
      if pending == nil, failure.code == .signInRefused { return }
      let reason =
        failure.message.hasSuffix(".") ? failure.message.dropLast() : failure.message[...]
      failure.message = "\(reason); the SDK has forgotten the tokens"
      throw failure
    }
  }
}

extension SQOAuthError {
  fileprivate static let terminalNotReady = SQOAuthError(
    .timedOut,
    "the app did not make the terminal ready for a text browser in time (willUseTerminal), so the "
      + "user is still logged in at the provider; the SDK has forgotten the tokens")

  fileprivate static func logoutTimedOut(_ refused: RefusedRequest?) -> SQOAuthError {
    let reason =
      refused.map { "; \($0.explanation)" }
      ?? ". Providers compare post_logout_redirect_uri exactly, with its port: check that it is "
      + "registered"
    return SQOAuthError(
      .timedOut, "no redirect came after the logout; the SDK has forgotten the tokens\(reason)")
  }
}
