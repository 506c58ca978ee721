import Basics
import CCurl

/// When a transfer has had its time: in all, until it is sent, and since a byte last moved.
///
/// Nanoseconds of the monotonic clock; `UInt64.max` is never.
struct TransferClock {
  private let end: UInt64
  private let idle: UInt64
  /// Until when the request must have a connection; never once it has one.
  private var connectionEnd: UInt64
  private var lastMove: UInt64
  /// The app has not yet taken what was received, so silence is not the server's fault.
  var isWaitingForReader = false
  /// The app has not yet made the next piece of the body.
  var isWaitingForWriter = false

  init(total: Duration?, idle: Duration?, connection: Duration? = nil) {
    let now = Self.now()
    lastMove = now
    self.idle = idle.map(Self.nanoseconds) ?? .max
    end = total.map { Self.sum(now, Self.nanoseconds($0)) } ?? .max
    connectionEnd = connection.map { Self.sum(now, Self.nanoseconds($0)) } ?? .max
  }

  /// The request has a connection and goes out.
  mutating func connected() {
    connectionEnd = .max
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
    let end = min(end, connectionEnd)
    return isWaitingForReader || isWaitingForWriter ? end : min(end, Self.sum(lastMove, idle))
  }

  /// Which limit is over.
  enum Limit {
    case total
    case connection
    case idle
  }

  func limit(passedAt now: UInt64) -> Limit {
    if now >= end { return .total }
    return now >= connectionEnd ? .connection : .idle
  }

  static func now() -> UInt64 { sq_nanoseconds(CLOCK_MONOTONIC) }

  private static func sum(_ first: UInt64, _ second: UInt64) -> UInt64 {
    let (sum, isTooLarge) = first.addingReportingOverflow(second)
    return isTooLarge ? .max : sum
  }

  private static func nanoseconds(_ duration: Duration) -> UInt64 {
    UInt64(duration.wholeNanoseconds)
  }
}
