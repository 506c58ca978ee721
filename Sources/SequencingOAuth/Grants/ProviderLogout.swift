import Basics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// One logout at the provider: from the request in the browser to the redirect.
///
/// - SeeAlso: OpenID Connect RP-Initiated Logout 1.0
struct ProviderLogout: Sendable {
  let client: RegisteredClient
  let accountID: String
  let idToken: IDToken?
  let logoutHint: String?
  let uiLocales: [String]
  /// Gets the logout before the browser opens, so that the app can pass a redirect to it.
  let isWaiting: @Sendable (PendingLogout) -> Void

  /// Opens the browser, and waits for the redirect if the client has an address for it.
  func run() async throws(SQOAuthError) {
    guard let endpoint = client.metadata.endSessionEndpoint else {
      throw SQOAuthError(
        .endSessionUnsupported,
        "the provider has no end session endpoint: the tokens were forgotten here, and the user is "
          + "still logged in at the provider")
    }
    guard let redirect = client.configuration.postLogoutRedirectURI else {
      try await open(try request(endpoint, nil, "").url(), nil)
      return
    }
    let receiver: LoopbackRedirectReceiver? =
      switch redirect.kind {
      case .loopback(let redirect):
        try LoopbackRedirectReceiver(redirect, style: client.environment.landingPage)
      case .app: nil
      }
    let outcome: Result<Void, SQOAuthError>
    do throws(SQOAuthError) {
      try await run(endpoint, receiver, receiver?.redirectURI ?? redirect.string)
      outcome = .success(())
    } catch {
      outcome = .failure(error)
    }
    await receiver?.stop()
    try outcome.get()
  }

  private func run(
    _ endpoint: URL, _ receiver: LoopbackRedirectReceiver?, _ redirectURI: String
  ) async throws(SQOAuthError) {
    let state = RandomString.make()
    let pending = PendingLogout(redirectURI: redirectURI, state: state)
    receiver?.deliver { LandingPage(forLogout: pending.offer($0)) }
    isWaiting(pending)
    let url = try request(endpoint, redirectURI, state).url()
    let opening = Task {
      do throws(SQOAuthError) {
        try await open(url, pending)
      } catch {
        pending.end(error)
      }
    }
    let clock = client.environment.clock
    let deadline = clock.now.addingTimeInterval(client.configuration.signInTimeout.seconds)
    let ending = Task {
      try await clock.sleep(until: deadline)
      pending.end(.logoutTimedOut)
    }
    defer {
      opening.cancel()
      ending.cancel()
      pending.end(.waitCancelled)
    }
    try await pending.response()
  }

  private func request(_ endpoint: URL, _ redirectURI: String?, _ state: String)
    -> EndSessionRequest
  {
    EndSessionRequest(
      endpoint: endpoint, clientID: client.configuration.clientID,
      idTokenHint: idToken?.compactForm, redirectURI: redirectURI, state: state,
      logoutHint: logoutHint, uiLocales: uiLocales)
  }

  private func open(_ url: URL, _ pending: PendingLogout?) async throws(SQOAuthError) {
    let question = PendingSignIn(
      accountID: accountID, clientID: client.configuration.clientID,
      issuer: client.metadata.issuer, redirectURI: pending?.redirectURI ?? "",
      offer: { pending?.offer($0) ?? .notAddressed })
    do {
      try await client.environment.userAgent.open(url, for: question)
    } catch {
      // Without an address for the redirect, the user stays on the provider's page.
      if pending == nil, Self.isEndOnPage(error) { return }
      throw (error as? SQOAuthError)
        ?? SQOAuthError(
          .browserUnavailable,
          "the browser did not open for the logout; the tokens were forgotten here", cause: error)
    }
  }

  /// Whether a user agent ended because the provider showed a page that leads no further.
  private static func isEndOnPage(_ error: any Error) -> Bool {
    if let error = error as? SQOAuthError { return error.code == .signInRefused }
    return (error as? any SignInPageError)?.isEndOnPage == true
  }
}

extension SQOAuthError {
  fileprivate static let logoutTimedOut = SQOAuthError(
    .timedOut,
    "no redirect came after the logout; the tokens were forgotten here. Providers compare "
      + "post_logout_redirect_uri exactly, with its port: check that it is registered")
}
