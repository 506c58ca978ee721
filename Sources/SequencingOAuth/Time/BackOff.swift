import SQBasics
package import SQFoundation

/// A failure, and the time during which other callers get its error without a new attempt.
///
/// The time is 1 s after the first failure, and each further failure doubles it, up to 60 s. If the
/// server asked for a longer time (`Retry-After`, RFC 9110, section 10.2.3), that is used, up to
/// ``longest``.
package final class BackOff: Sendable {
  /// The error of the failed attempt.
  let error: SQOAuthError
  let since: Date
  package let until: Date
  private let count: Int

  /// The maximum time that a server may request, in seconds.
  package static let longest: Double = 3600

  /// Creates the back-off after a failure; `previous` is the back-off of the failure before it.
  package init(_ error: SQOAuthError, after previous: BackOff?, at now: Date) {
    self.error = error
    count = min((previous?.count ?? 0) + 1, 16)
    let delay = min(Double(1 << (count - 1)), 60)
    let asked = min(error.retryAfter?.seconds ?? 0, Self.longest)
    since = now
    until = now.addingTimeInterval(max(delay, asked))
  }

  private init(_ other: BackOff, movedBackBy seconds: Double) {
    (error, count) = (other.error, other.count)
    since = other.since.addingTimeInterval(-seconds)
    until = other.until.addingTimeInterval(-seconds)
  }

  /// Returns the back-off for a clock that was moved back: it ends after the same wait.
  func movedBack(by seconds: Double) -> BackOff { BackOff(self, movedBackBy: seconds) }

  /// Returns whether the back-off is still in force; `false` if the clock shows a time before the
  /// failure.
  package func isInForce(at now: Date) -> Bool {
    since <= now && now < until
  }
}
