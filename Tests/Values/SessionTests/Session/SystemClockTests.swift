import Foundation
import SequencingOAuth
import Testing

@Suite(.timeLimit(.minutes(1))) struct SystemClockTests {
  let clock = SystemClock()

  @Test func `the clock returns the current date and time`() {
    let before = Date()
    let now = clock.now
    #expect(before <= now && now <= Date())
  }

  @Test func `showsSystemTime is false by default for a custom clock`() {
    struct FixedClock: WallClock {
      let now = Date.distantPast
      func sleep(until date: Date) async throws {}
    }
    #expect(clock.showsSystemTime && !FixedClock().showsSystemTime)
  }

  @Test(arguments: [-1e9, -1, 0])
  func `a sleep until a past date returns at once`(seconds: TimeInterval) async throws {
    try await clock.sleep(until: clock.now + seconds)
    try await clock.sleep(until: .distantPast)
  }

  @Test func `a sleep does not return before its date`() async throws {
    let date = clock.now + 0.05
    try await clock.sleep(until: date)
    #expect(clock.now >= date)
  }

  @Test func `a cancelled task ends a sleep of any length`() async {
    for date in [Date.distantFuture, clock.now + 3600, Date(timeIntervalSince1970: 1e300)] {
      let sleeping = Task { try await clock.sleep(until: date) }
      await Task.yield()
      sleeping.cancel()
      await #expect(throws: CancellationError.self) { try await sleeping.value }
    }
  }
}
