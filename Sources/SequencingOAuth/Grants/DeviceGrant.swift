import SQBasics
import SQFoundation

/// The device authorization grant: the user signs in on another device, and the SDK polls the
/// server for the token.
///
/// - SeeAlso: RFC 8628
struct DeviceGrant: Sendable {
  let client: RegisteredClient
  let options: SignInOptions
  /// The token requests of cancelled sign-ins; their tokens are revoked.
  let abandoned: AbandonedTokens
  /// The closure that shows the code and the address to the user.
  let show: @Sendable (DeviceAuthorization) -> Void
  /// The closure that stores the token; if it throws an error, the sign-in fails with that error.
  let keep: @Sendable (SQToken) async throws(SQOAuthError) -> Void

  /// Signs the user in and returns the token.
  func run() async throws(SQOAuthError) -> SQToken {
    let question = try SignInQuestion(options, client, isForDevice: true)
    let device = try await begin(question)
    show(device.authorization)
    // While the user is at the provider, there is time to fetch its keys.
    let preparation = Task { await question.validator?.signatures.prepare() }
    defer { preparation.cancel() }
    return try await poll(device, scope: question.expected.scope) { issued throws(SQOAuthError) in
      try client.checkScope(of: issued.token)
      let token = try await question.expected.identify(
        issued, code: nil, by: question.validator)
      try await keep(token)
      return token
    }
  }

  /// Requests a device code and a user code from the server.
  private func begin(
    _ question: SignInQuestion
  ) async throws(SQOAuthError) -> DeviceAuthorizationResponse {
    guard let endpoint = try client.metadata.address(of: .deviceAuthorization) else {
      throw SQOAuthError(
        .deviceAuthorizationUnsupported,
        "the provider has no device authorization endpoint, so users cannot sign in on another "
          + "device; let them sign in with a browser")
    }
    let configuration = client.configuration
    let (answer, request) = try await client.exchange(at: endpoint, proving: .ifAsked) {
      () throws(SQOAuthError) in
      DeviceAuthorizationRequest(
        endpoint: endpoint, scope: question.expected.scope,
        parameters: question.parameters
          + (question.expected.nonce.map { [.init("nonce", $0)] } ?? []),
        client: try await client.credentials(at: endpoint), timeout: configuration.timeout)
    }
    return try DeviceAuthorizationResponse(
      answer, to: request, receivedAt: client.environment.clock.now)
  }

  /// Polls for the token at the server's interval, until the user is done or the code has expired.
  ///
  /// `use` validates and stores the token; its errors end the sign-in, since the device code is
  /// used up.
  private func poll(
    _ device: DeviceAuthorizationResponse, scope: String?,
    use: (IssuedToken) async throws(SQOAuthError) -> SQToken
  ) async throws(SQOAuthError) -> SQToken {
    let clock = client.environment.clock
    // Steady time, so that a change of the system's date does not change the code's lifetime.
    let end = clock.steadyTime + device.lifetime
    var polls = DevicePolls(interval: device.interval)
    var next = clock.steadyTime + polls.interval
    var last: SQOAuthError?
    while next < end {
      try await sleep(until: next)
      var hasToken = false
      do throws(SQOAuthError) {
        return try await abandoned.token(of: client) { () throws(SQOAuthError) in
          try await client.token(
            [
              .init("grant_type", DeviceAuthorization.grantType),
              .init("device_code", device.deviceCode),
            ],
            scope: scope)
        } use: { issued throws(SQOAuthError) in
          hasToken = true
          return try await use(issued)
        }
      } catch {
        if hasToken { throw error }
        guard !Task.isCancelled, let pause = polls.pause(after: error) else {
          throw Self.afterPages(error)
        }
        next = clock.steadyTime + pause
        last = error
      }
    }
    try await sleep(until: end)
    throw Self.afterPages(Self.expired(after: last))
  }

  /// Returns an error of the polls, during which the user was at the provider's pages.
  private static func afterPages(_ error: SQOAuthError) -> SQOAuthError {
    var error = error
    error.occasion = .pages
    return error
  }

  /// Returns the error for an expired code; its message gives the reason from the last response.
  private static func expired(after last: SQOAuthError?) -> SQOAuthError {
    let reason =
      switch last?.response?.error.rawValue {
      case "authorization_pending": "the user did not finish the sign-in on another device"
      case "slow_down": "the server asked for longer and longer pauses"
      default:
        last.map { "the server did not say whether the user has signed in (\($0.message))" }
          ?? "the server allowed no request for the token"
      }
    return SQOAuthError(
      .expiredToken, "\(reason) before the code expired; sign in again for a new code",
      cause: last?.response == nil ? last : nil)
  }

  /// Waits until a moment of the clock's steady time.
  private func sleep(until end: Duration) async throws(SQOAuthError) {
    let clock = client.environment.clock
    do {
      try await clock.sleep(for: max(.zero, end - clock.steadyTime))
    } catch {
      throw .signInCancelled
    }
  }
}
