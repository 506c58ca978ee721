#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The times at which callers no longer get a token, and at which the timer renews it.
///
/// Both come before the server's expiry date, since a request takes time to arrive and clocks
/// differ. The date in the token itself does not change.
struct TokenSchedule: Sendable, Hashable {
  /// How far the clock may be before the token's issue date, in seconds.
  ///
  /// If it is further back, it was moved back, so it cannot tell whether the token is valid.
  static let clockTolerance = 60.0

  /// When callers first get the token, in seconds since the reference date.
  ///
  /// Seconds are compared faster than dates.
  let usableFrom: Double
  /// When callers no longer get the token, in seconds since the reference date; without an expiry
  /// date it is infinite.
  let usableUntil: Double
  /// When the timer renews the token; `nil` for never.
  let dueAt: Date?

  /// The schedule without a token, which is never usable.
  static let expired = TokenSchedule(from: nil, until: .distantPast, dueAt: nil)

  private init(from: Date?, until: Date?, dueAt: Date?) {
    usableFrom = from?.timeIntervalSinceReferenceDate ?? -.infinity
    usableUntil = until?.timeIntervalSinceReferenceDate ?? .infinity
    self.dueAt = dueAt
  }

  /// Makes the schedule of a token that became known at `now`.
  ///
  /// Callers get the token until a tenth of its life before its expiry, at most 30 s before it. The
  /// timer renews it earlier, so that the refresh has time: 11 to 12 percent of the life before the
  /// expiry, at most 550 to 600 s before it. `jitter`, from 0 to 1, spreads the clients of one
  /// server. Callers get a token that cannot be renewed until its expiry.
  init(_ token: SQToken, knownAt now: Date, isRenewable: Bool, jitter: Double) {
    guard let expiry = token.expirationDate else {
      self.init(from: nil, until: nil, dueAt: nil)
      return
    }
    guard isRenewable else {
      self.init(from: nil, until: expiry, dueAt: nil)
      return
    }
    let tenth = max(0, expiry.timeIntervalSince(token.issueDate ?? now)) / 10
    let margin = min(tenth, 500) * (1.1 + 0.1 * jitter)
    self.init(
      from: token.issueDate?.addingTimeInterval(-Self.clockTolerance),
      until: expiry.addingTimeInterval(-min(tenth, 30)),
      dueAt: expiry.addingTimeInterval(-margin))
  }

  /// Whether callers get the token at a time.
  func isUsable(at now: Date) -> Bool {
    let now = now.timeIntervalSinceReferenceDate
    return usableFrom <= now && now < usableUntil
  }
}
