import Basics
public import Foundation
public import SequencingOAuth

/// A clock that stands still until a test advances it.
public final class ManualClock: WallClock {
  private struct Sleeper {
    let date: Date
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var now: Date
    var sleepers: [Int: Sleeper] = [:]
    var lastSleeper = 0
    var watchers: [CheckedContinuation<Void, Never>] = []
  }

  private let state: Locked<State>

  /// Creates a clock that shows a round date.
  public init(now: Date = Date(timeIntervalSince1970: 1_750_000_000)) {
    state = Locked(State(now: now))
  }

  /// The time that the clock shows.
  public var now: Date { state.withLock(\.now) }

  /// The number of tasks that sleep.
  public var sleepers: Int { state.withLock(\.sleepers.count) }

  /// Moves the time forwards or back, and wakes the tasks whose time has come.
  public func advance(by seconds: TimeInterval) {
    let due: [Sleeper] = state.withLock { state in
      let now = state.now + seconds
      state.now = now
      let due = state.sleepers.filter { $0.value.date <= now }
      for id in due.keys { state.sleepers[id] = nil }
      return Array(due.values)
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

  /// Sleeps until the clock is advanced to a time.
  public func sleep(until date: Date) async throws {
    let id = state.withLock { state in
      state.lastSleeper += 1
      return state.lastSleeper
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let (isDue, watchers): (Bool, [CheckedContinuation<Void, Never>]) = state.withLock {
          state in
          if date <= state.now || Task.isCancelled { return (true, []) }
          state.sleepers[id] = Sleeper(date: date, continuation: continuation)
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
