import SQBasics

/// Random numbers that mark the accounts that a statement claims.
///
/// The mark of a claim is stored in the microseconds of the claim's end. By chance, two claims, or
/// a claim and an ordinary date, may have the same mark. In that case, an account is renewed too
/// early, or two keepers claim it; the account's lease lets only one of them renew it.
struct ClaimMarks: Sendable {
  /// The mark of the accounts that the statement claims, from 0 to 999,999.
  let own: Int64
  /// The marks of earlier claims without an answer; the statement returns their accounts again.
  let lost: [Int64]
}

/// A store's unanswered claims on due accounts; the database may have carried them out.
///
/// Without this list, no keeper would renew such accounts until the claim ends.
struct LostClaims: Sendable {
  private var ends: [Int64: ContinuousClock.Instant] = [:]

  /// How long after an outage the database may still carry out a statement from before the outage.
  private static let delay = Duration.seconds(10)
  /// How long a claim may last beyond its requested time.
  private static let excess = Duration.seconds(2)

  /// Creates a mark for a new claim, and lists the marks of earlier claims to look for.
  mutating func marks(at now: ContinuousClock.Instant) -> ClaimMarks {
    ends = ends.filter { $0.value > now }
    return ClaimMarks(own: .random(in: 0..<1_000_000), lost: ends.keys.sorted())
  }

  /// Records that the answer to a claim did not arrive.
  mutating func lose(_ mark: Int64, for time: Duration, at now: ContinuousClock.Instant) {
    ends[mark] = now + time + Self.excess
  }

  /// Records an answer of the database; earlier unanswered claims are looked for only 10 s more.
  mutating func answered(at now: ContinuousClock.Instant) {
    ends = ends.mapValues { min($0, now + Self.delay) }
  }
}
