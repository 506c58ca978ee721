import CCurl

/// When a transfer has had its time: in all, and since a byte last moved.
///
/// Nanoseconds of the monotonic clock; `UInt64.max` is never.
struct TransferClock {
  private let end: UInt64
  private let idle: UInt64
  private var lastMove: UInt64
  /// The app has not yet taken what was received, so silence is not the server's fault.
  var isWaitingForReader = false
  /// The app has not yet made the next piece of the body.
  var isWaitingForWriter = false

  init(total: Duration?, idle: Duration?) {
    lastMove = Self.now()
    self.idle = idle.map(Self.nanoseconds) ?? .max
    end = total.map { Self.sum(Self.now(), Self.nanoseconds($0)) } ?? .max
  }

  /// A byte moved.
  mutating func touch() {
    // Four milliseconds coarse, and five times as fast.
    if idle != .max { lastMove = sq_nanoseconds(CLOCK_MONOTONIC_COARSE) }
  }

  /// The app took or gave something, so the server is expected to move again.
  mutating func resume() {
    isWaitingForReader = false
    isWaitingForWriter = false
    lastMove = Self.now()
  }

  /// When to look next.
  var deadline: UInt64 {
    isWaitingForReader || isWaitingForWriter ? end : min(end, Self.sum(lastMove, idle))
  }

  func hasEnded(_ now: UInt64) -> Bool { now >= end }

  static func now() -> UInt64 { sq_nanoseconds(CLOCK_MONOTONIC) }

  private static func sum(_ first: UInt64, _ second: UInt64) -> UInt64 {
    let (sum, isTooLarge) = first.addingReportingOverflow(second)
    return isTooLarge ? .max : sum
  }

  private static func nanoseconds(_ duration: Duration) -> UInt64 {
    let (seconds, attoseconds) = duration.components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    let (whole, isTooLarge) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
    return isTooLarge ? .max : sum(whole, UInt64(attoseconds / 1_000_000_000))
  }
}
