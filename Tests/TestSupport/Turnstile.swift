import LoopbackHTTP

/// Lets a few in at a time, in the order in which they came.
final class Turnstile: Sendable {
  private struct Waiter {
    let id: Int
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var free: Int
    var waiters: [Waiter] = []
    var lastWaiter = 0
  }

  private let state: Locked<State>

  init(places: Int) {
    state = Locked(State(free: places))
  }

  /// Waits for a place; the test's own time limit is what ends the wait.
  func take() async throws {
    let id = state.withLock { state in
      state.lastWaiter += 1
      return state.lastWaiter
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let answer: Result<Void, any Error>? = state.withLock { state in
          // The cancellation looked for this waiter before it was there.
          if Task.isCancelled { return .failure(CancellationError()) }
          if state.free > 0 {
            state.free -= 1
            return .success(())
          }
          state.waiters.append(Waiter(id: id, continuation: continuation))
          return nil
        }
        if let answer { continuation.resume(with: answer) }
      }
    } onCancel: {
      let waiter: Waiter? = state.withLock { state in
        guard let index = state.waiters.firstIndex(where: { $0.id == id }) else { return nil }
        return state.waiters.remove(at: index)
      }
      waiter?.continuation.resume(throwing: CancellationError())
    }
  }

  /// Gives a place to whoever has waited longest.
  func give() {
    let waiter: Waiter? = state.withLock { state in
      guard state.waiters.isEmpty else { return state.waiters.removeFirst() }
      state.free += 1
      return nil
    }
    waiter?.continuation.resume()
  }
}
