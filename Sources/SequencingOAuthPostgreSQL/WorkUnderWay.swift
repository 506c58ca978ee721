import SQBasics

/// Work that goes on after the calls that began it.
final class WorkUnderWay: Sendable {
  private let ends = Locked((last: 0, ends: [Int: OneShot<Void>]()))

  /// Starts work in a task of its own.
  func start(_ work: @escaping @Sendable () async -> Void) {
    let end = OneShot<Void>()
    let number = ends.withLock { state in
      state.last += 1
      state.ends[state.last] = end
      return state.last
    }
    Task {
      await work()
      ends.withLock { $0.ends[number] = nil }
      end.resolve(())
    }
  }

  /// Waits until all work that has begun has ended, but not longer than until a time.
  func settle(until deadline: ContinuousClock.Instant) async {
    for end in ends.withLock({ Array($0.ends.values) }) { _ = await end.wait(until: deadline) }
  }
}
