import Basics

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The time of day, as a value that a test can replace.
///
/// Expiry is a date, so it is measured by the clock on the wall, which an administrator or a
/// suspended machine may move in either direction.
public protocol WallClock: Sendable {
  /// The present moment.
  var now: Date { get }

  /// Whether ``now`` is always the system's time, `Date()`.
  ///
  /// If it is, the SDK reads the system's time itself, which is faster than a call to the clock. The
  /// default is `false`.
  var showsSystemTime: Bool { get }

  /// Returns at a moment or later; throws `CancellationError` when the task is cancelled.
  ///
  /// A clock that is moved back meanwhile may show less: the wait is over after as long as it was
  /// to take.
  func sleep(until date: Date) async throws
}

extension WallClock {
  /// `false`: the SDK asks the clock for the time.
  public var showsSystemTime: Bool { false }
}

/// The system's clock.
public struct SystemClock: WallClock {
  /// Makes the clock.
  public init() {}

  /// The present moment.
  public var now: Date { Date() }

  /// `true`.
  public var showsSystemTime: Bool { true }

  /// Sleeps until a moment; the time that the machine is suspended counts.
  public func sleep(until date: Date) async throws {
    let start = ContinuousClock.now
    // Two clocks never run quite alike: only one that was moved back is overtaken by a second.
    let longest = date.timeIntervalSince(now) + 1
    while true {
      let elapsed = (ContinuousClock.now - start).seconds
      let remaining = min(date.timeIntervalSince(now), longest - elapsed)
      guard remaining > 0 else { return try Task.checkCancellation() }
      // In steps: a jump of the wall clock is noticed within one of them.
      try await Task.sleep(for: .seconds(min(remaining, 30)), clock: .continuous)
    }
  }
}
