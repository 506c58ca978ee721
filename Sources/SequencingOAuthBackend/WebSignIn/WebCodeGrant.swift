import SQBasics
import SQFoundation
import SequencingOAuth

/// The authorization code grant in two steps that share only a ``WebSignIn``.
///
/// - SeeAlso: RFC 6749, section 4.1
struct WebCodeGrant: Sendable {
  let client: RegisteredClient
  /// The store that remembers finished sign-ins.
  let oneTimeValues: any OneTimeValues
  /// The token requests that are under way.
  let tokenRequests: TokenRequests

  /// Begins a sign-in; returns the URL for the user's browser, and the ``WebSignIn`` to keep.
  func begin(
    _ options: SignInOptions
  ) async throws(SQOAuthError) -> (url: URL, signIn: WebSignIn) {
    let grant = try PreparedCodeGrant(options, client)
    let request = try CodeRequest(grant, client, redirectURI: grant.redirect.string)
    let end = client.environment.clock.now
      .addingTimeInterval(client.configuration.signInTimeout.seconds)
    return (
      try await request.url(of: grant, by: client),
      WebSignIn(request, expirationDate: end)
    )
  }

  /// Finishes a sign-in with the redirect that the application received.
  ///
  /// First the redirect must pass all checks, then `prepare` must succeed. Only then does the
  /// method mark the sign-in as finished and send the code.
  func finish(
    _ signIn: WebSignIn, redirect: String, prepare: () async throws(SQOAuthError) -> Void
  ) async throws(SQOAuthError) -> SQToken {
    try check(signIn)
    let response = try Self.response(in: redirect, to: signIn)
    let validator = try client.idTokenValidator(for: signIn.request.identity)
    return try await signIn.request.redeem(response, by: client, validator, tokenRequests) {
      () throws(SQOAuthError) in
      try await prepare()
      try await use(signIn)
    }
  }

  private func check(_ signIn: WebSignIn) throws(SQOAuthError) {
    let configuration = client.configuration
    guard signIn.request.clientID == configuration.clientID,
      signIn.request.provider == configuration.provider.identifier
    else {
      throw SQOAuthError(
        .webSignInInvalid, "the sign-in was begun for another client or at another server")
    }
    let now = client.environment.clock.now
    guard now < end(of: signIn) else {
      let began =
        signIn.request.identity.requestDate
        ?? signIn.expirationDate.addingTimeInterval(-configuration.signInTimeout.seconds)
      throw SQOAuthError(
        .timedOut,
        "the user came back after the sign-in had expired: it began "
          + "\(Int(now.timeIntervalSince(began).rounded())) s ago by this host's clock; let the user "
          + "sign in again, and compare the clocks of the hosts if the user was faster")
    }
  }

  /// Returns when a sign-in ends on this host.
  ///
  /// It may have begun on another host, whose clock is behind this one.
  private func end(of signIn: WebSignIn) -> Date {
    signIn.expirationDate.addingTimeInterval(client.configuration.clockTolerance.seconds)
  }

  private static func response(
    in redirect: String, to signIn: WebSignIn
  ) throws(SQOAuthError) -> AuthorizationResponse {
    switch AuthorizationResponse.judge(redirect, against: signIn.request.expectation) {
    case .notAddressed:
      throw SQOAuthError(
        .invalidAuthorizationResponse,
        "the redirect does not begin with the redirect URI: pass the whole URL from the browser, "
          + "with its scheme, host and port")
    case .wrongState(let error):
      throw SQOAuthError(
        .stateMismatch,
        error?.withoutState
          ?? "the redirect has no state or a wrong state, so it does not answer this sign-in")
    case .unreadable(let error): throw error
    case .answer(let result): return try result.get()
    }
  }

  /// Marks the sign-in as finished; throws if it was already finished.
  private func use(_ signIn: WebSignIn) async throws(SQOAuthError) {
    let isFirst = try await oneTimeValues.use(
      signIn.request.state, as: "web sign-in", until: end(of: signIn),
      at: client.environment.clock.now)
    guard isFirst else {
      throw SQOAuthError(
        .webSignInUsed, "the sign-in was finished before; let the user sign in again")
    }
  }
}
