import SQBasics

/// A limit for the number of tasks that run at a time; they run in the order of their arrival.
final class Turnstile: Sendable {
  private struct State {
    var free: Int
    var waiters: [OneShot<Void>] = []
  }

  private let state: Locked<State>

  init(places: Int) {
    state = Locked(State(free: places))
  }

  /// Waits until the caller may run.
  ///
  /// Only a cancellation, for example by the test's time limit, ends the wait early.
  func take() async throws {
    try Task.checkCancellation()
    let turn: OneShot<Void>? = state.withLock { state in
      if state.free > 0 {
        state.free -= 1
        return nil
      }
      let turn = OneShot<Void>()
      state.waiters.append(turn)
      return turn
    }
    guard let turn, await turn.value() == nil else { return }
    let wasWaiting = state.withLock { state in
      let count = state.waiters.count
      state.waiters.removeAll { $0 === turn }
      return state.waiters.count < count
    }
    // The task was let in and cancelled at the same moment, so another task may run in its place.
    if !wasWaiting { give() }
    throw CancellationError()
  }

  /// Reports that the caller has finished, and lets in the task that has waited longest.
  func give() {
    state.withLock { state -> OneShot<Void>? in
      guard state.waiters.isEmpty else { return state.waiters.removeFirst() }
      state.free += 1
      return nil
    }?.resolve(())
  }
}
