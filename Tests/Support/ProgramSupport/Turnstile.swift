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

  /// Waits for a place.
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
    // The task has got its place meanwhile, and passes it on.
    if !wasWaiting { give() }
    throw CancellationError()
  }

  /// Gives the place to the task that has waited longest.
  func give() {
    state.withLock { state -> OneShot<Void>? in
      guard state.waiters.isEmpty else { return state.waiters.removeFirst() }
      state.free += 1
      return nil
    }?.resolve(())
  }
}
