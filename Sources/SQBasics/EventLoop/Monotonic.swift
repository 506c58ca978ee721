import CSQSockets

/// Times on the system's monotonic clock, in nanoseconds.
///
/// All deadlines in this package's event loops use this clock.
package enum Monotonic {
  /// The time of a deadline that never comes.
  package static let never = UInt64.max

  package static func now() -> UInt64 { sq_monotonic_nanoseconds() }

  package static func after(_ duration: Duration, from now: UInt64 = now()) -> UInt64 {
    sum(now, UInt64(duration.wholeNanoseconds))
  }

  /// Adds nanoseconds to a time; returns ``never`` if the sum is too large.
  package static func sum(_ time: UInt64, _ nanoseconds: UInt64) -> UInt64 {
    let (sum, isTooLate) = time.addingReportingOverflow(nanoseconds)
    return isTooLate ? never : sum
  }

  /// Returns the milliseconds until a time as a timeout for poll(2) and epoll_wait(2).
  ///
  /// The result is rounded up, so that a thread does not wake too early; -1 means never.
  package static func timeout(until time: UInt64, from now: UInt64 = now()) -> Int32 {
    guard time != never else { return -1 }
    return time <= now ? 0 : Int32(clamping: (time - now + 999_999) / 1_000_000)
  }
}
