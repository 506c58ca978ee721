import SQBasics

/// Decides when to ask for the token of a sign-in on another device again.
///
/// - SeeAlso: RFC 8628, sections 3.4 and 3.5
struct DevicePolls: Sendable {
  /// By how much `slow_down` lengthens the interval, for good.
  private static let slowDown = Duration.seconds(5)
  /// The longest pause that failures cause by themselves.
  private static let longestPause = Duration.seconds(60)

  /// The shortest time between two requests.
  private(set) var interval: Duration
  /// The requests since the server's last answer that did not reach it or that it could not answer.
  private var failures = 0

  /// Makes the plan for a server's `interval`.
  init(interval: Duration) {
    self.interval = interval
  }

  /// The time until the next request after an error; `nil` if the error ends the sign-in.
  ///
  /// A server in trouble is asked less and less often, and not before the time that it names.
  mutating func pause(after error: SQOAuthError) -> Duration? {
    let asked = error.retryAfter ?? .zero
    // Section 3.5 defines four codes, and each of them is an answer whatever its status.
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

  /// Whether the same request may succeed later.
  ///
  /// The server answered over TLS, and the client's key signed, when the sign-in began. So a failure
  /// of either is one that may pass, such as a connection that a restarting server resets.
  private static func mayPass(_ error: SQOAuthError) -> Bool {
    error.isOutage || error.code == .clientKeyFailed && error.response == nil
  }
}
