import SQBasics

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A clock that shows date and time, and that a test can replace.
///
/// The expiry of a token is a date, so the SDK needs the time of day. An administrator or a
/// suspended machine may move this time forwards or back.
public protocol WallClock: Sendable {
  /// The current date and time.
  var now: Date { get }

  /// Whether ``now`` is always the system's time, `Date()`.
  ///
  /// If it is, the SDK reads the system's time itself, which is faster than a call to the clock.
  /// The default is `false`.
  var showsSystemTime: Bool { get }

  /// The time since a moment that the clock chooses, which no change of the date moves.
  ///
  /// It goes on while the machine sleeps. The SDK measures with it how long something takes, or how
  /// long a value counts. The default follows ``now``, also when that is moved back.
  var steadyTime: Duration { get }

  /// Waits for a length of time, whatever date the clock shows in the meantime.
  ///
  /// It throws `CancellationError` if the task is cancelled. The default waits until the date after
  /// that time.
  func sleep(for duration: Duration) async throws

  /// Waits until a date; throws `CancellationError` if the task is cancelled.
  ///
  /// If the clock is moved back during the wait, the wait ends after its original length, although
  /// the clock then shows an earlier time.
  func sleep(until date: Date) async throws
}

extension WallClock {
  /// `false`: the SDK calls the clock to get the time.
  public var showsSystemTime: Bool { false }

  /// The time since a fixed date.
  public var steadyTime: Duration { .seconds(now.timeIntervalSinceReferenceDate) }

  /// Waits until the date after that time.
  public func sleep(for duration: Duration) async throws {
    try await sleep(until: now.addingTimeInterval(duration.seconds))
  }
}

/// The clock that shows the system's time, which the SDK uses by default.
public struct SystemClock: WallClock {
  /// Makes the clock, which has no settings.
  public init() {}

  /// The system's current date and time.
  public var now: Date { Date() }

  /// `true`: the SDK reads the system's time itself.
  public var showsSystemTime: Bool { true }

  private static let start = ContinuousClock.now

  /// The time since the process first asked, with the time in which the machine was suspended.
  public var steadyTime: Duration { ContinuousClock.now - Self.start }

  /// Waits for a length of time; time in which the machine is suspended counts.
  public func sleep(for duration: Duration) async throws {
    try await Task.sleep(for: duration, clock: .continuous)
  }

  /// Waits until a date; time in which the machine is suspended counts.
  ///
  /// It throws `CancellationError` if the task is cancelled.
  public func sleep(until date: Date) async throws {
    let start = ContinuousClock.now
    // Two clocks never run exactly alike. Only if the wall clock was moved back can it be more than
    // a second behind.
    let longest = date.timeIntervalSince(now) + 1
    while true {
      let elapsed = (ContinuousClock.now - start).seconds
      let remaining = min(date.timeIntervalSince(now), longest - elapsed)
      guard remaining > 0 else { return try Task.checkCancellation() }
      // The wait has steps, so that a jump of the wall clock is noticed within one step.
      try await Task.sleep(for: .seconds(min(remaining, 30)), clock: .continuous)
    }
  }
}
