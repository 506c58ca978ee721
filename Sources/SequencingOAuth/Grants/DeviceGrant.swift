import SQBasics
import SQFoundation

/// The device authorization grant: the user signs in on another device, and the SDK polls the
/// server for the token.
///
/// - SeeAlso: RFC 8628
struct DeviceGrant: Sendable {
  let client: RegisteredClient
  let options: SignInOptions
  /// The token requests under way; a cancelled sign-in's tokens are revoked.
  let tokenRequests: TokenRequests
  /// The closure that shows the code and the address to the user.
  let show: @Sendable (DeviceAuthorization) -> Void
  /// The closure that stores the token; if it throws an error, the sign-in fails with that error.
  let keep: @Sendable (SQToken) async throws(SQOAuthError) -> Void

  /// How long before the code expires the last request is sent, so that it reaches the server in
  /// time.
  private static let margin = Duration.seconds(2)

  /// Signs the user in and returns the token.
  func run() async throws(SQOAuthError) -> SQToken {
    let question = try SignInQuestion(options, client, isForDevice: true)
    let expected = question.expected.requested(at: client.environment.clock.now)
    let device = try await begin(question)
    show(device.authorization)
    // While the user is at the provider, there is time to fetch its keys.
    let preparation = Task { await question.validator?.signatures.prepare() }
    defer { preparation.cancel() }
    return try await poll(device, scope: expected.scope) { issued throws(SQOAuthError) in
      try client.checkScope(of: issued.token)
      let token = try await expected.identify(issued, code: nil, by: question.validator)
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
    let lastMoment = end - Self.margin
    var polls = DevicePolls(interval: device.interval)
    var pause = polls.pause(polls.interval, within: lastMoment - clock.steadyTime)
    var last: SQOAuthError?
    while let time = pause {
      try await sleep(for: time)
      var hasToken = false
      do throws(SQOAuthError) {
        return try await tokenRequests.token(of: client) { () throws(SQOAuthError) in
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
        guard !Task.isCancelled, let next = polls.pause(after: error) else {
          throw polls.ending(error)
        }
        pause = polls.pause(next, within: lastMoment - clock.steadyTime)
        last = error
      }
    }
    try await sleep(for: end - clock.steadyTime)
    throw polls.ending(Self.expired(after: last))
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

  private func sleep(for time: Duration) async throws(SQOAuthError) {
    do {
      try await client.environment.clock.sleep(for: max(.zero, time))
    } catch {
      throw .signInCancelled
    }
  }
}
