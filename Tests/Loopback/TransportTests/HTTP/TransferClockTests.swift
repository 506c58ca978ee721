import Testing

@testable import SequencingOAuth

/// When a request may be sent, on a machine that may sleep.
@Suite struct TransferClockTests {
  private static let second: UInt64 = 1_000_000_000

  @Test func `a request is not sent if the machine slept until its time was over`() {
    let clock = TransferClock(total: .seconds(60), idle: nil)
    let now = TransferClock.timeAwakeOrNot()
    #expect(clock.maySend(at: now))
    #expect(clock.maySend(at: now + 50 * Self.second))
    #expect(!clock.maySend(at: now + 600 * Self.second))
    // The clock for all other limits stood still meanwhile.
    #expect(TransferClock.now() < clock.deadline)
  }

  @Test func `a request without a limit may be sent after any sleep`() {
    let clock = TransferClock(total: nil, idle: .seconds(1))
    #expect(clock.maySend(at: .max - 1))
  }
}
