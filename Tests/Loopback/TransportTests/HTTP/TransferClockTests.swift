import SQBasics
import Testing

@testable import SequencingOAuth

/// The rule that decides whether a request may still be sent after the machine was suspended.
@Suite struct TransferClockTests {
  private static let second: UInt64 = 1_000_000_000

  @Test func `a request whose time limit passed during a suspend is not sent`() {
    let clock = TransferClock(total: .seconds(60), idle: nil)
    let now = TransferClock.timeAwakeOrNot()
    #expect(clock.maySend(at: now))
    #expect(clock.maySend(at: now + 50 * Self.second))
    #expect(!clock.maySend(at: now + 600 * Self.second))
    // The clock for all other limits stood still during the suspend.
    #expect(Monotonic.now() < clock.deadline)
  }

  @Test func `a request without a time limit can be sent after any suspend`() {
    let clock = TransferClock(total: nil, idle: .seconds(1))
    #expect(clock.maySend(at: .max - 1))
  }
}
