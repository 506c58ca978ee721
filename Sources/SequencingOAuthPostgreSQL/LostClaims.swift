import SQBasics

/// The marks of a statement that takes due accounts.
///
/// A claim's mark is in the microseconds of its end. Two claims, or a claim and an ordinary date, may
/// have the same one by chance: then an account is renewed earlier than it has to be, or the account's
/// lease lets one of two keepers renew it.
struct ClaimMarks: Sendable {
  /// The mark of what the statement takes, from 0 to 999,999.
  let own: Int64
  /// The marks of earlier claims whose answers were lost; the statement takes them again.
  let lost: [Int64]
}

/// The claims of a store on due accounts that the database may have made without an answer.
///
/// Without this, a keeper would leave such accounts alone until its own claim is over.
struct LostClaims: Sendable {
  private var ends: [Int64: ContinuousClock.Instant] = [:]

  /// How long the database may still be working on a statement, once it answers others again.
  private static let delay = Duration.seconds(10)
  /// How long a claim may last beyond the time for which it is made.
  private static let excess = Duration.seconds(2)

  /// Makes a mark, and finds those to look for.
  mutating func marks(at now: ContinuousClock.Instant) -> ClaimMarks {
    ends = ends.filter { $0.value > now }
    return ClaimMarks(own: .random(in: 0..<1_000_000), lost: ends.keys.sorted())
  }

  /// Notes that the answer to a statement did not arrive.
  mutating func lose(_ mark: Int64, for time: Duration, at now: ContinuousClock.Instant) {
    ends[mark] = now + time + Self.excess
  }

  /// Notes that the database has answered; it has soon made all earlier claims, or never will.
  mutating func answered(at now: ContinuousClock.Instant) {
    ends = ends.mapValues { min($0, now + Self.delay) }
  }
}
