import CSQSockets
import SQBasics

/// Times on the system's monotonic clock, in nanoseconds, for the event loop's deadlines.
package enum Monotonic {
  package static let never = Int64.max

  package static func now() -> Int64 { Int64(sq_monotonic_nanoseconds()) }

  package static func after(_ duration: Duration, from now: Int64) -> Int64 {
    let (sum, tooLate) = now.addingReportingOverflow(duration.wholeNanoseconds)
    return tooLate ? never : sum
  }

  /// Returns the milliseconds until a time, rounded up, as a timeout for `poll`.
  package static func pollTimeout(until moment: Int64, from now: Int64) -> Int32 {
    guard moment != never else { return -1 }
    guard moment > now else { return 0 }
    return Int32(clamping: (moment - now + 999_999) / 1_000_000)
  }
}
