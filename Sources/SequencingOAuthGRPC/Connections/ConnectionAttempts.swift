/// The attempts to connect to a server, and the pauses after failed attempts.
///
/// All times are nanoseconds of the clock of `Monotonic`; `UInt64.max` means never.
struct ConnectionAttempts {
  /// The longest time of one attempt.
  static let limit = Duration.seconds(20)
  /// The pause after the first failure; each further failure doubles it.
  private static let shortestPause: UInt64 = 100_000_000
  private static let longestPause: UInt64 = 5_000_000_000

  /// Whether an attempt is under way.
  var isUnderWay = false
  private var failures = 0
  private var pauseEnd: UInt64 = 0
  private var lastFailure: RPCCallError?

  /// The end of the current pause; `UInt64.max` if there is no pause.
  var due: UInt64 { pauseEnd == 0 ? .max : pauseEnd }

  /// Returns whether a connection may be opened now; if so, records the attempt.
  mutating func mayBegin(at now: UInt64) -> Bool {
    guard !isUnderWay, pauseEnd <= now else { return false }
    isUnderWay = true
    pauseEnd = 0
    return true
  }

  /// Records that a connection has carried a call.
  mutating func succeeded() {
    failures = 0
    pauseEnd = 0
    lastFailure = nil
  }

  /// Records that no connection could be opened, or that the connection carried no call.
  mutating func failed(_ error: RPCCallError?, at now: UInt64) {
    isUnderWay = false
    lastFailure = error
    let pause = min(Self.shortestPause << UInt64(min(failures, 10)), Self.longestPause)
    failures += 1
    // Random pauses, so that many clients of one server do not all return at the same time.
    pauseEnd = now + pause * UInt64.random(in: 80...120) / 100
  }

  /// The error of a call that timed out before there was a connection.
  var timeIsUp: RPCCallError {
    guard let lastFailure else {
      return RPCCallError(
        .deadlineExceeded, "the call took longer than its timeout: there was no connection yet")
    }
    return RPCCallError(
      .deadlineExceeded,
      "the call took longer than its timeout: there was no connection; the last attempt failed: "
        + lastFailure.message, cause: lastFailure.cause)
  }
}
