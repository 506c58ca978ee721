import Foundation
import SequencingOAuthTesting
import Testing

@Suite(.timeLimit(.minutes(1))) struct FakeClockTests {
  private let clock = FakeClock(now: Date(timeIntervalSince1970: 1_750_000_000))

  @Test func `the clock moves only when the test advances it, and never back`() {
    clock.advance(by: .seconds(90))
    clock.advance(by: .seconds(-30))
    #expect(clock.now == Date(timeIntervalSince1970: 1_750_000_090))
    #expect(clock.steadyTime == .seconds(90))
  }

  @Test func `the clock may be moved and waited for by any duration`() async throws {
    let (clock, longest) = (clock, Duration.seconds(Int64.max) * 18)
    async let wait: Void = clock.sleep(for: longest)
    await clock.passNextWait()
    try await wait
    for _ in 0..<3 { clock.advance(by: longest) }
    #expect(clock.steadyTime >= .seconds(4 * 100 * 365 * 86_400))
  }

  @Test func `both times of the clock agree however far the test moves it`() {
    let start = clock.now
    let years = 150.0 * 365 * 86_400
    for _ in 1...2 { clock.advance(by: .seconds(years / 2)) }
    #expect(clock.now == start.addingTimeInterval(years) && clock.steadyTime == .seconds(years))
  }

  @Test func `a wait ends when the clock has moved far enough`() async throws {
    let (clock, start) = (clock, clock.now)
    async let first: Void = clock.sleep(for: .seconds(5))
    await clock.passNextWait()
    try await first
    #expect(clock.steadyTime == .seconds(5))
    async let second: Void = clock.sleep(until: start.addingTimeInterval(3600))
    await clock.passNextWait()
    try await second
    #expect(clock.now == start.addingTimeInterval(3600))
    try await clock.sleep(until: start)
  }

  @Test func `a cancelled wait ends at once`() async {
    let clock = clock
    let wait = Task { try await clock.sleep(for: .seconds(5)) }
    wait.cancel()
    await #expect(throws: CancellationError.self) { try await wait.value }
    #expect(clock.steadyTime == .zero)
  }
}
