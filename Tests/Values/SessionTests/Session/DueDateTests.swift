import Foundation
import Testing

@testable import SequencingOAuth

/// When an `AccountKeeper` renews an account again after a renewal.
@Suite("The date of the next renewal") struct DueDateTests {
  private static let now = Date(timeIntervalSince1970: 1_800_000_000)

  private func record(lifetime: Double?) -> AccountRecord {
    AccountRecord(
      id: "a", clientID: "c",
      token: SQToken(
        accessToken: "a", expirationDate: lifetime.map { Self.now + $0 }, refreshToken: "r",
        issueDate: Self.now))
  }

  /// Returns the seconds until the next renewal, with and without a renewal before.
  private func waits(of record: AccountRecord) -> [Double?] {
    [
      record.dueDate(afterRenewalAt: Self.now, jitter: 0),
      record.dueDate(at: Self.now, jitter: 0),
    ].map { $0?.timeIntervalSince(Self.now) }
  }

  @Test(
    "after a renewal, a token that is due already is renewed after 10 s, and others after 1 s",
    arguments: [(0.0, 10.0, 0.0), (-3600, 10, -3600), (0.5, 1, 0.445), (10, 8.9, 8.9)])
  func pauses(lifetime: Double, after: Double, at: Double) throws {
    let waits = waits(of: record(lifetime: lifetime))
    #expect(try abs(#require(waits[0]) - after) < 0.001)
    #expect(try abs(#require(waits[1]) - at) < 0.001)
  }

  @Test func `a token whose ID token could not be validated waits 10 s for the next attempt`() {
    let record = record(lifetime: 3600)
    let waiting = record.refreshed(record.token, attributes: [:], pending: record.token)
    #expect(waits(of: waiting) == [10, 0])
  }

  @Test func `a record from a clock that is ahead is recognized`() {
    let now = Self.now
    let record = record(lifetime: 3600)
    // The token is due 3168 s after its issue, by the clock of the host that saved it.
    #expect(record.ownDueDate == now + 3168)
    for (age, isAhead) in [(3168.0, false), (3109, false), (3108, true), (0, true), (-9000, true)] {
      #expect(record.isDated(after: now + age) == isAhead, "after \(age) s")
    }
    // A token that does not expire has only its issue date.
    let endless = self.record(lifetime: nil)
    #expect(endless.ownDueDate == nil)
    #expect(!endless.isDated(after: now - 59) && endless.isDated(after: now - 60))
  }

  @Test func `an account whose token does not expire needs no renewal`() {
    #expect(waits(of: record(lifetime: nil)) == [nil, nil])
  }
}
