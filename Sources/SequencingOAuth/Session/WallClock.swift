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

  /// Returns at a moment or later; throws `CancellationError` when the task is cancelled.
  func sleep(until date: Date) async throws
}

/// The system's clock.
public struct SystemClock: WallClock {
  /// Makes the clock.
  public init() {}

  /// The present moment.
  public var now: Date { Date() }

  /// Sleeps until a moment; a suspended machine counts, since the wall clock is asked again.
  public func sleep(until date: Date) async throws {
    while true {
      let remaining = date.timeIntervalSince(now)
      guard remaining > 0 else { return try Task.checkCancellation() }
      // In steps: a jump of the wall clock is noticed within one of them.
      try await Task.sleep(for: .seconds(min(remaining, 30)))
    }
  }
}
