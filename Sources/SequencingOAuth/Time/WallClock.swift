import SQBasics
public import SQFoundation

/// A clock for the date and time; tests can replace it.
///
/// The expiration of a token is a date, so the SDK needs the time of day. An administrator may set
/// this time forwards or back, and it may jump when a suspended machine wakes.
public protocol WallClock: Sendable {
  /// The current date and time.
  var now: Date { get }

  /// Whether ``now`` is always the system's time, `Date()`.
  ///
  /// If it is, the SDK reads the system's time itself, because that is faster than calling the
  /// clock. The default implementation returns `false`.
  var showsSystemTime: Bool { get }

  /// The time since an arbitrary moment; changes of the date do not affect it.
  ///
  /// It also advances while the machine sleeps. The SDK uses it to measure how long something
  /// takes, or how long a value is valid. The default implementation follows ``now``, even if that
  /// is moved back.
  var steadyTime: Duration { get }

  /// Waits for a duration; changes of the date do not affect the wait.
  ///
  /// It throws `CancellationError` if the task is cancelled. The default implementation calls
  /// ``sleep(until:)`` with ``now`` plus the duration.
  func sleep(for duration: Duration) async throws

  /// Waits until a date; throws `CancellationError` if the task is cancelled.
  ///
  /// If the clock is moved back during the wait, the wait ends after its original duration,
  /// although the clock then shows an earlier time.
  func sleep(until date: Date) async throws
}

extension WallClock {
  /// The value `false`, so that the SDK calls the clock to get the time.
  public var showsSystemTime: Bool { false }

  /// The time since a fixed date.
  public var steadyTime: Duration { .seconds(now.timeIntervalSinceReferenceDate) }

  /// Waits until ``now`` plus a duration.
  public func sleep(for duration: Duration) async throws {
    try await sleep(until: now.addingTimeInterval(duration.seconds))
  }
}

/// The system's clock: the SDK's default.
public struct SystemClock: WallClock {
  /// Creates a clock without settings.
  public init() {}

  /// The system's current date and time.
  public var now: Date { Date() }

  /// The value `true`, so that the SDK reads the system's time itself.
  public var showsSystemTime: Bool { true }

  private static let start = ContinuousClock.now

  /// The time since the process first used this property, including time of suspension.
  public var steadyTime: Duration { ContinuousClock.now - Self.start }

  /// Waits for a duration; the time while the machine is suspended counts.
  public func sleep(for duration: Duration) async throws {
    try await Task.sleep(for: duration.bounded, clock: .continuous)
  }

  /// Waits until a date; the date may pass while the machine is suspended.
  ///
  /// It throws `CancellationError` if the task is cancelled.
  public func sleep(until date: Date) async throws {
    let start = ContinuousClock.now
    // Two clocks never run exactly alike. The wall clock can be more than a second behind only if
    // it was moved back.
    let longest = date.timeIntervalSince(now) + 1
    while true {
      let elapsed = (ContinuousClock.now - start).seconds
      let remaining = min(date.timeIntervalSince(now), longest - elapsed)
      guard remaining > 0 else { return try Task.checkCancellation() }
      // The wait consists of steps, so that a jump of the wall clock is noticed within one step.
      try await Task.sleep(for: .seconds(min(remaining, 30)), clock: .continuous)
    }
  }
}
