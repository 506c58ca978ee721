import CSQSockets
import SQBasics

/// The time limits of a transfer: in total, until it has a connection, and since the last byte.
///
/// The limits are nanoseconds of the monotonic clock; `UInt64.max` means never. That clock stops
/// while the machine is suspended, so a transfer may continue when the machine wakes. A second
/// clock, which also runs during the suspension, decides whether a request may still be sent: after
/// the request's time limit, another process may have taken over its work.
struct TransferClock {
  private let end: UInt64
  /// The time after which the request must not be sent, by a clock that also runs while the machine
  /// is suspended.
  private let lastSending: UInt64
  private let idle: UInt64
  /// The time by which the request must have a connection; `UInt64.max` after it has one.
  private var connectionEnd: UInt64
  private var lastMove: UInt64
  /// Whether the app must first consume received content, so the idle limit does not apply.
  var isWaitingForReader = false
  /// Whether the app must first make the next piece of the body, so the idle limit does not apply.
  var isWaitingForWriter = false
  /// How far the transfer's times are ahead of the system's clock; `nil` except in tests.
  private let lead: TimeLead?

  init(
    total: Duration?, idle: Duration?, connection: Duration? = nil, lead: TimeLead? = nil
  ) {
    self.lead = lead
    let now = Monotonic.sum(Monotonic.now(), lead?.nanoseconds ?? 0)
    lastMove = now
    self.idle = idle.map { UInt64($0.wholeNanoseconds) } ?? .max
    end = total.map { Monotonic.after($0, from: now) } ?? .max
    lastSending = total.map { Monotonic.after($0, from: Self.timeAwakeOrNot()) } ?? .max
    connectionEnd = connection.map { Monotonic.after($0, from: now) } ?? .max
  }

  /// Records that the request has a connection and is being sent.
  mutating func connected() {
    connectionEnd = .max
  }

  /// Records that a byte was sent or received.
  mutating func touch() {
    // The coarse clock has a resolution of four milliseconds, and reading it is five times as fast
    // as reading the exact clock.
    if idle != .max { lastMove = ahead(of: sq_coarse_nanoseconds()) }
  }

  /// Records that the app consumed or made content, which restarts the idle time.
  mutating func resume() {
    isWaitingForReader = false
    isWaitingForWriter = false
    lastMove = ahead(of: Monotonic.now())
  }

  /// The earliest time of the system's clock at which the transfer may reach a limit.
  var deadline: UInt64 {
    let end = min(end, connectionEnd)
    let deadline =
      isWaitingForReader || isWaitingForWriter ? end : min(end, Monotonic.sum(lastMove, idle))
    guard let lead, deadline != .max else { return deadline }
    return deadline - min(deadline, lead.nanoseconds)
  }

  /// The kinds of time limits.
  enum Limit {
    case total
    case connection
    case idle
  }

  func limit(passedAt now: UInt64) -> Limit {
    let now = ahead(of: now)
    if now >= end { return .total }
    return now >= connectionEnd ? .connection : .idle
  }

  /// Returns whether the request may still be sent; time in which the machine was suspended counts.
  func maySend(at time: UInt64 = timeAwakeOrNot()) -> Bool { time < lastSending }

  /// Returns the time since the machine started, including the time in which it was suspended.
  static func timeAwakeOrNot() -> UInt64 { sq_nanoseconds_awake_or_not() }

  private func ahead(of now: UInt64) -> UInt64 {
    guard let lead else { return now }
    return Monotonic.sum(now, lead.nanoseconds)
  }
}
