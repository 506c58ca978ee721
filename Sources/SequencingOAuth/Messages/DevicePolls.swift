import SQBasics

/// The timing of the token requests during a sign-in on another device.
///
/// - SeeAlso: RFC 8628, sections 3.4 and 3.5
struct DevicePolls: Sendable {
  /// The time that each `slow_down` adds to the interval permanently.
  private static let slowDown = Duration.seconds(5)
  /// The longest pause after failures, unless the interval or `Retry-After` is longer.
  private static let longestPause = Duration.seconds(60)

  /// The shortest time between two requests.
  private(set) var interval: Duration
  /// The number of failed requests since the server's last proper response.
  private var failures = 0

  /// Creates the timing from a server's `interval`.
  init(interval: Duration) {
    self.interval = interval
  }

  /// Returns the time until the next request after an error; `nil` if the error ends the sign-in.
  ///
  /// Each failure in a row doubles the pause, up to a limit. The pause is never shorter than the
  /// interval, or than the time that the server asks for.
  mutating func pause(after error: SQOAuthError) -> Duration? {
    let asked = error.retryAfter ?? .zero
    // Section 3.5 defines four codes; each is a proper response whatever its status.
    switch error.response?.error.rawValue {
    case "authorization_pending":
      failures = 0
    case "slow_down":
      failures = 0
      interval += Self.slowDown
    case "access_denied", "expired_token":
      return nil
    default:
      guard Self.mayPass(error) else { return nil }
      failures = min(failures + 1, 16)
      return max(interval, min(interval * (1 << failures), Self.longestPause), asked)
    }
    return max(interval, asked)
  }

  /// Returns whether the request may succeed later.
  ///
  /// At the start of the sign-in, the connection to the server and the client's key worked. So a
  /// failure of the connection or of the key may be temporary, for example while the server
  /// restarts.
  private static func mayPass(_ error: SQOAuthError) -> Bool {
    error.isOutage || error.code == .clientKeyFailed && error.response == nil
  }
}
