import SQBasics
import Synchronization

/// The lead of a client's clock over the system's clock, so that tests need not wait for time
/// limits.
///
/// A client with a lead measures its transfers' limits by the system's monotonic clock plus the
/// lead. libcurl's own timers use the system's clock.
package final class TimeLead: Sendable {
  private let lead = Atomic<UInt64>(0)

  /// Creates a lead of zero.
  package init() {}

  /// The lead, in nanoseconds.
  var nanoseconds: UInt64 { lead.load(ordering: .relaxed) }

  /// Moves the time ahead and ends each transfer that has reached its limit by then.
  ///
  /// The event loop does both before it executes any command that arrives after this call.
  package func advance(by duration: Duration) {
    guard case .success(let loop) = CurlEventLoop.shared else { return }
    loop.advance(self, by: duration)
  }

  /// Moves the time ahead; the event loop notices it when it next wakes.
  package func skip(_ duration: Duration) {
    lead.add(UInt64(duration.wholeNanoseconds), ordering: .relaxed)
  }
}
