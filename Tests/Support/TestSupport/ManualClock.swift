public import Foundation
import SQBasics
public import SequencingOAuth

/// A clock that stands still until a test advances it.
public final class ManualClock: WallClock {
  private struct Sleeper {
    let end: End
    let continuation: CheckedContinuation<Void, any Error>
  }

  /// The end of a sleep: a date, if any, or a steady time if that comes first.
  private struct End {
    var date: Date?
    let steady: Duration
  }

  private struct State {
    var now: Date
    var steady = Duration.seconds(1_000_000)
    var sleepers: [Int: Sleeper] = [:]
    var lastSleeper = 0
    var watchers: [CheckedContinuation<Void, Never>] = []

    func isOver(_ end: End) -> Bool {
      end.steady <= steady || end.date.map { $0 <= now } ?? false
    }

    /// Removes and returns the tasks whose sleep is over.
    mutating func takeDue() -> [Sleeper] {
      let due = sleepers.filter { isOver($0.value.end) }
      for id in due.keys { sleepers[id] = nil }
      return Array(due.values)
    }
  }

  private let state: Locked<State>

  /// Creates a clock that shows `now`, by default 1,750,000,000 s after 1970.
  public init(now: Date = Date(timeIntervalSince1970: 1_750_000_000)) {
    state = Locked(State(now: now))
  }

  /// The time that the clock shows.
  public var now: Date { state.withLock(\.now) }

  /// A time that never goes back: only ``advance(by:)`` moves it, and only forwards.
  public var steadyTime: Duration { state.withLock(\.steady) }

  /// The number of tasks that sleep.
  public var sleepers: Int { state.withLock(\.sleepers.count) }

  /// Advances the time, and wakes the tasks whose sleep is over.
  ///
  /// A negative time moves only the date.
  public func advance(by seconds: TimeInterval) {
    wake { state in
      state.now += seconds
      state.steady += .seconds(max(seconds, 0))
    }
  }

  /// Moves only the date, as an administrator does.
  public func moveDate(by seconds: TimeInterval) {
    wake { $0.now += seconds }
  }

  private func wake(_ change: (inout State) -> Void) {
    let due = state.withLock { state in
      change(&state)
      return state.takeDue()
    }
    for sleeper in due { sleeper.continuation.resume() }
  }

  /// Waits until a task sleeps.
  public func hasSleeper() async {
    await withCheckedContinuation { continuation in
      let isReady = state.withLock { state in
        if state.sleepers.isEmpty { state.watchers.append(continuation) }
        return !state.sleepers.isEmpty
      }
      if isReady { continuation.resume() }
    }
  }

  /// Sleeps until the clock is advanced to a date, or by the time that was left until that date.
  public func sleep(until date: Date) async throws {
    try await sleep {
      End(date: date, steady: $0.steady + .bounded(seconds: date.timeIntervalSince($0.now)))
    }
  }

  /// Sleeps until the clock is advanced by a time.
  public func sleep(for duration: Duration) async throws {
    try await sleep { End(steady: $0.steady + duration) }
  }

  private func sleep(until end: @Sendable (State) -> End) async throws {
    let id = state.withLock { state in
      state.lastSleeper += 1
      return state.lastSleeper
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let (isDue, watchers): (Bool, [CheckedContinuation<Void, Never>]) = state.withLock {
          state in
          let end = end(state)
          if state.isOver(end) || Task.isCancelled { return (true, []) }
          state.sleepers[id] = Sleeper(end: end, continuation: continuation)
          defer { state.watchers = [] }
          return (false, state.watchers)
        }
        for watcher in watchers { watcher.resume() }
        if isDue { continuation.resume() }
      }
      try Task.checkCancellation()
    } onCancel: {
      let sleeper = state.withLock { $0.sleepers.removeValue(forKey: id) }
      sleeper?.continuation.resume(throwing: CancellationError())
    }
  }
}
