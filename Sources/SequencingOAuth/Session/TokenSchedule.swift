import SQFoundation

/// The period in which callers get a token, and the time of its renewal by the timer.
///
/// The period ends before the token's expiration date, and the timer renews the token before that,
/// because a request takes time to arrive and clocks differ. The date in the token itself does not
/// change.
struct TokenSchedule: Sendable, Hashable {
  /// How far the clock may be behind the token's issue date, in seconds.
  ///
  /// A clock that is further behind was moved back, so it cannot show whether the token is valid.
  static let clockTolerance = 60.0

  /// The time from which callers get the token, in seconds since the reference date.
  ///
  /// It is a number, because numbers are compared faster than dates.
  let usableFrom: Double
  /// The time after which callers no longer get the token, in seconds since the reference date.
  ///
  /// Without an expiration date, it is infinite.
  let usableUntil: Double
  /// The time at which the timer renews the token; `nil` for never.
  private(set) var dueAt: Date?

  /// The schedule of a session without a token.
  static let expired = TokenSchedule(from: nil, until: .distantPast, dueAt: nil)

  private init(from: Date?, until: Date?, dueAt: Date?) {
    usableFrom = from?.timeIntervalSinceReferenceDate ?? -.infinity
    usableUntil = until?.timeIntervalSinceReferenceDate ?? .infinity
    self.dueAt = dueAt
  }

  /// Creates the schedule of a token that became known at `now`.
  ///
  /// Callers get a renewable token until a tenth of its lifetime is left, or 30 s if that is less.
  /// The timer renews the token earlier, so that the refresh has enough time: when 11 to 12 percent
  /// of the lifetime are left, or 550 to 600 s if that is less. `jitter`, from 0 to 1, distributes
  /// the clients of a server over that range. If the clock is too far behind the issue date, the
  /// timer counts the lifetime from `now`. If a token cannot be renewed, callers get it until it
  /// expires.
  init(_ token: SQToken, knownAt now: Date, isRenewable: Bool, jitter: Double) {
    guard let date = token.expirationDate else {
      self.init(from: nil, until: nil, dueAt: nil)
      return
    }
    // An app or a store may have any date. A `Duration` cannot reach the most distant dates, and a
    // date that is not a number counts as past.
    let expiry = min(max(date, .distantPast), .distantFuture)
    guard isRenewable else {
      self.init(from: nil, until: expiry, dueAt: nil)
      return
    }
    let tenth = max(0, expiry.timeIntervalSince(token.issueDate ?? now)) / 10
    let margin = min(tenth, 500) * (1.1 + 0.1 * jitter)
    let from = token.issueDate?.addingTimeInterval(-Self.clockTolerance)
    var due = expiry.addingTimeInterval(-margin)
    if let issued = token.issueDate, let from, now < from {
      // Not at once: another host's clock may be right, and it has just renewed the token.
      due = now.addingTimeInterval(max(0, due.timeIntervalSince(issued)))
    }
    self.init(from: from, until: expiry.addingTimeInterval(-min(tenth, 30)), dueAt: due)
  }

  /// Returns the schedule for a clock that was moved back: the token is due after the same wait.
  func movedBack(by seconds: Double) -> Self {
    var schedule = self
    schedule.dueAt?.addTimeInterval(-seconds)
    return schedule
  }

  /// Returns whether callers get the token at a given time.
  func isUsable(at now: Date) -> Bool {
    let now = now.timeIntervalSinceReferenceDate
    return usableFrom <= now && now < usableUntil
  }
}
