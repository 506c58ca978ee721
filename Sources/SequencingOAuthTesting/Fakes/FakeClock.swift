import SQBasics
public import SQFoundation
public import SequencingOAuth

/// A clock for an app's tests that stands still until the test moves it.
///
/// Set it as `ClientEnvironment.clock`. The account then waits by this clock, for example to
/// refresh a token or to ask whether a user has entered a code on another device. A test can end
/// such a wait at once:
///
/// ```swift
/// await clock.passNextWait()
/// ```
public final class FakeClock: WallClock {
  private struct Wait {
    /// The end of the wait, in the clock's steady time.
    let end: Duration
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    /// The date when the steady time is 0.
    let start: Date
    var steady = Duration.zero
    var waits: [Int: Wait] = [:]
    var lastWait = 0
    var watchers: [CheckedContinuation<Void, Never>] = []

    /// Moves the time forwards, and returns the waits that are over.
    mutating func advance(to time: Duration) -> [Wait] {
      steady = max(steady, time)
      let due = waits.filter { $0.value.end <= steady }
      for id in due.keys { waits[id] = nil }
      return Array(due.values)
    }
  }

  private let state: Locked<State>

  /// Creates a clock that stands still at a date, by default the current date.
  public init(now: Date = Date()) {
    state = Locked(State(start: now))
  }

  /// The date that the clock shows.
  public var now: Date {
    state.withLock { $0.start.addingTimeInterval($0.steady / .seconds(1)) }
  }

  /// The total time by which the clock was moved.
  public var steadyTime: Duration { state.withLock(\.steady) }

  /// Moves the clock forwards, and ends the waits whose time has come.
  ///
  /// A negative duration has no effect.
  public func advance(by duration: Duration) {
    let due = state.withLock { $0.advance(to: $0.steady + duration.bounded) }
    for wait in due { wait.continuation.resume() }
  }

  /// Waits until a task waits for this clock, and moves the clock to the end of the shortest wait.
  ///
  /// The method does not return before a task waits for the clock, so give the test a time limit.
  public func passNextWait() async {
    var due: [Wait] = []
    // A wait may be cancelled before this task continues.
    while due.isEmpty {
      await hasWait()
      due = state.withLock { state in
        state.waits.values.map(\.end).min().map { state.advance(to: $0) } ?? []
      }
    }
    for wait in due { wait.continuation.resume() }
  }

  /// Returns when a program waits on this clock.
  private func hasWait() async {
    await withCheckedContinuation { continuation in
      let isReady = state.withLock { state in
        if state.waits.isEmpty { state.watchers.append(continuation) }
        return !state.waits.isEmpty
      }
      if isReady { continuation.resume() }
    }
  }

  /// Waits until the clock shows a date.
  public func sleep(until date: Date) async throws {
    let end = state.withLock { date.timeIntervalSince($0.start) }
    try await sleep(untilSteady: .seconds(end))
  }

  /// Waits until the clock has moved forwards by a duration.
  public func sleep(for duration: Duration) async throws {
    try await sleep(untilSteady: steadyTime + duration.bounded)
  }

  private func sleep(untilSteady end: Duration) async throws {
    let id = state.withLock { state in
      state.lastWait += 1
      return state.lastWait
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let (isOver, watchers) = state.withLock { state in
          if end <= state.steady || Task.isCancelled {
            return (true, [CheckedContinuation<Void, Never>]())
          }
          state.waits[id] = Wait(end: end, continuation: continuation)
          defer { state.watchers = [] }
          return (false, state.watchers)
        }
        for watcher in watchers { watcher.resume() }
        if isOver { continuation.resume() }
      }
      try Task.checkCancellation()
    } onCancel: {
      let wait = state.withLock { $0.waits.removeValue(forKey: id) }
      wait?.continuation.resume(throwing: CancellationError())
    }
  }
}
