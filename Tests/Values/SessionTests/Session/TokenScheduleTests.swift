import Foundation
import Testing

@testable import SequencingOAuth

/// When a token is returned to callers, and when the timer replaces it, in seconds.
@Suite struct TokenScheduleTests {
  static let issued = Date(timeIntervalSince1970: 1_750_000_000)

  /// Returns the schedule of a token that was received at ``issued``.
  func schedule(
    life: Double?, renewable: Bool = true, jitter: Double = 0, knownAt: Double = 0,
    hasIssueDate: Bool = true
  ) -> TokenSchedule {
    TokenSchedule(
      SQToken(
        accessToken: "T", expirationDate: life.map { Self.issued + $0 },
        issueDate: hasIssueDate ? Self.issued : nil),
      knownAt: Self.issued + knownAt, isRenewable: renewable, jitter: jitter)
  }

  func seconds(_ date: Date?) -> Double? { date?.timeIntervalSince(Self.issued) }

  func end(_ schedule: TokenSchedule) -> Double {
    schedule.usableUntil - Self.issued.timeIntervalSinceReferenceDate
  }

  @Test(
    "a token is usable until a tenth of its life, at most 30 s, before the end",
    arguments: [
      // life, usable until, due with full jitter, due without jitter
      (10.0, 9.0, 8.8, 8.9), (100, 90, 88, 89), (300, 270, 264, 267), (600, 570, 528, 534),
      (3600, 3570, 3168, 3204), (6000, 5970, 5400, 5450), (86_400, 86_370, 85_800, 85_850),
      (0, 0, 0, 0),
    ])
  func margins(life: Double, until: Double, earliest: Double, latest: Double) throws {
    let early = schedule(life: life, jitter: 1)
    let late = schedule(life: life)
    #expect(end(early) == until)
    #expect(end(late) == until, "the time for callers has no jitter")
    #expect(abs(try #require(seconds(early.dueAt)) - earliest) < 0.001)
    #expect(abs(try #require(seconds(late.dueAt)) - latest) < 0.001)
  }

  @Test func `the timer's refresh is due before a caller needs one`() throws {
    for life in [1.0, 5, 59, 300, 3600, 1e6, 2_147_483_647] {
      for jitter in stride(from: 0.0, through: 1, by: 0.05) {
        let schedule = schedule(life: life, jitter: jitter)
        let due = try #require(seconds(schedule.dueAt))
        let margin = min(life * 0.12, 600)
        #expect(due >= life - margin - 0.001 && due <= life - 0.916 * margin + 0.001)
        #expect(due < end(schedule))
      }
    }
  }

  @Test func `a token without an expiration is usable at any time and has no due date`() {
    let schedule = schedule(life: nil)
    #expect(schedule.dueAt == nil)
    for moment in [-1e9, 0, 1e9] { #expect(schedule.isUsable(at: Self.issued + moment)) }
  }

  @Test(
    arguments: [
      (1e300, true), (.infinity, true), (-1e300, false), (-.infinity, false), (.nan, false),
    ] as [(Double, Bool)])
  func `an extreme or invalid expiration date still gives a due date that fits a Duration`(
    life: Double, isUsable: Bool
  ) throws {
    let schedule = schedule(life: life)
    #expect(schedule.isUsable(at: Self.issued) == isUsable)
    let wait = Duration.seconds(try #require(seconds(schedule.dueAt)))
    #expect((wait > .zero) == isUsable)
  }

  @Test func `a token that cannot be renewed is used until it expires`() {
    let schedule = schedule(life: 3600, renewable: false)
    #expect(schedule.dueAt == nil)
    #expect(schedule.isUsable(at: Self.issued + 3599.9))
    #expect(!schedule.isUsable(at: Self.issued + 3600))
    #expect(schedule.isUsable(at: Self.issued - 86_400), "there is nothing better to hand out")
  }

  @Test(
    "a token of 3600 s is usable from 60 s before its issue date until 3570 s after it",
    arguments: [
      (0.0, true), (3569.9, true), (3570, false), (3600, false), (1e9, false), (-60, true),
      // If a clock moved back further, the token's age is unknown.
      (-60.1, false), (-86_400, false),
    ])
  func usable(at moment: Double, usable: Bool) {
    #expect(schedule(life: 3600).isUsable(at: Self.issued + moment) == usable)
  }

  @Test func `without an issue date, the lifetime begins when the token becomes known`() {
    let late = schedule(life: 3600, knownAt: 3400, hasIssueDate: false)
    #expect(end(late) == 3580, "a tenth of the 200 s that are left")
    #expect(seconds(late.dueAt) == 3578)
    #expect(late.isUsable(at: Self.issued - 1e6))
    let over = schedule(life: 3600, knownAt: 7200, hasIssueDate: false)
    #expect(end(over) == 3600)
    #expect(seconds(over.dueAt) == 3600)
  }

  @Test func `an issue date after the expiration does not give a negative margin`() {
    let token = SQToken(
      accessToken: "T", expirationDate: Self.issued, issueDate: Self.issued + 500)
    let schedule = TokenSchedule(token, knownAt: Self.issued, isRenewable: true, jitter: 0)
    #expect(end(schedule) == 0)
    #expect(seconds(schedule.dueAt) == 0)
  }

  @Test(
    "if the clock is behind the issue date, the time until the refresh counts from now",
    arguments: [
      (0.0, 3204.0), (-60, 3204), (-61, 3143), (-32_400, -29_196),
    ])
  func clockBehind(knownAt moment: Double, due: Double) throws {
    #expect(seconds(schedule(life: 3600, knownAt: moment).dueAt) == due)
  }

  @Test(arguments: [1e300, .infinity])
  func `an extreme issue date gives a due date that fits a Duration`(seconds: Double) throws {
    let token = SQToken(
      accessToken: "T", expirationDate: Self.issued + 3600, issueDate: Self.issued + seconds)
    let schedule = TokenSchedule(token, knownAt: Self.issued, isRenewable: true, jitter: 0)
    #expect(schedule.dueAt == Self.issued)
  }

  @Test func `an expired schedule is never usable or due`() {
    #expect(!TokenSchedule.expired.isUsable(at: Self.issued))
    #expect(TokenSchedule.expired.dueAt == nil)
  }
}
