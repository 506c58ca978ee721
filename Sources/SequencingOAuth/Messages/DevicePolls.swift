import SQBasics

/// The timing of the token requests during a sign-in on another device.
///
/// - SeeAlso: RFC 8628, sections 3.4 and 3.5
struct DevicePolls: Sendable {
  /// The time that each `slow_down` adds to the interval permanently.
  private static let slowDown = Duration.seconds(5)
  /// The longest pause after failures, unless the interval or `Retry-After` is longer.
  private static let longestPause = Duration.seconds(60)
  /// The codes by which a server says that the user refused; the second one is Microsoft's.
  private static let denials: Set = ["access_denied", "authorization_declined"]

  /// The shortest time between two requests.
  private(set) var interval: Duration
  /// The shortest pause that the server allows before the next request; zero before the first one.
  private var shortestPause = Duration.zero
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
    case let code? where code == "expired_token" || Self.denials.contains(code):
      return nil
    default:
      guard Self.mayPass(error) else { return nil }
      failures = min(failures + 1, 16)
    }
    shortestPause = max(interval, asked)
    guard failures > 0 else { return shortestPause }
    return max(min(interval * (1 << failures), Self.longestPause), shortestPause)
  }

  /// Returns a pause that is changed so that the last request comes at the last possible moment.
  ///
  /// `rest` is the time until that moment, which is shortly before the code expires. A user who is
  /// done just before it would otherwise be lost. If no further request fits in after the pause,
  /// the pause takes the whole rest. Returns `nil` if the server allows no request within the rest.
  func pause(_ pause: Duration, within rest: Duration) -> Duration? {
    guard shortestPause <= rest else { return nil }
    return pause + interval > rest ? rest : pause
  }

  /// Returns the error that ends the sign-in, for an error of the last request or an expired code.
  ///
  /// The user was at the provider's pages, so a denial or an expired code is the user's. But if the
  /// code expired while the server did not say whether the user was done, that is not known.
  func ending(_ error: SQOAuthError) -> SQOAuthError {
    var error = error
    if let code = error.response?.error.rawValue, Self.denials.contains(code) {
      error = SQOAuthError(
        .accessDenied, error.message, cause: error.cause, response: error.response,
        status: error.status, retryAfter: error.retryAfter)
    }
    if error.code != .expiredToken || failures == 0 { error.occasion = .pages }
    return error
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
