import SQBasics

/// Background work that continues after the calls that started it.
final class WorkUnderWay: Sendable {
  private let ends = Locked((last: 0, ends: [Int: OneShot<Void>]()))

  /// Starts work in a new task.
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

  /// Waits until all started work has ended or the deadline passes.
  func flush(until deadline: ContinuousClock.Instant) async {
    for end in ends.withLock({ Array($0.ends.values) }) { _ = await end.wait(until: deadline) }
  }
}
