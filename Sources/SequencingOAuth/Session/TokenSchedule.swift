#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// When a token is no longer handed out, and when the timer replaces it.
///
/// Both come before the expiry that the server named: a request takes time to arrive, and clocks
/// differ. The date in the token itself stays the server's.
struct TokenSchedule: Sendable, Hashable {
  /// A clock that shows a time so long before the token came was moved back, and tells nothing.
  static let clockTolerance = 60.0

  /// The token is handed out from here on, in seconds since the reference date, which are compared
  /// faster than dates are.
  let usableFrom: Double
  /// The token is handed out until here; without end where its expiry is not known.
  let usableUntil: Double
  /// When the timer replaces it, `nil` for never.
  let dueAt: Date?

  /// Nothing is known, or everything is over.
  static let expired = TokenSchedule(from: nil, until: .distantPast, dueAt: nil)

  private init(from: Date?, until: Date?, dueAt: Date?) {
    usableFrom = from?.timeIntervalSinceReferenceDate ?? -.infinity
    usableUntil = until?.timeIntervalSinceReferenceDate ?? .infinity
    self.dueAt = dueAt
  }

  /// The schedule of a token that became known at a moment.
  ///
  /// A pull ends a tenth of the token's life early, 30 s at most. The timer comes before that, so
  /// that its refresh has time: 11 to 12 percent of the life early, 550 to 600 s at most; `jitter`,
  /// from 0 to 1, spreads the clients of one server. A token that cannot be renewed is handed out to
  /// its end.
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

  /// Whether a pull hands the token out.
  func isUsable(at now: Date) -> Bool {
    let now = now.timeIntervalSinceReferenceDate
    return usableFrom <= now && now < usableUntil
  }
}
