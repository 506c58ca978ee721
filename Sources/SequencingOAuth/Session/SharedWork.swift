import LoopbackHTTP

/// Work that any number of callers wait for and that none of them owns.
final class SharedWork<Value: Sendable>: Sendable {
  typealias Outcome = Result<Value, SQOAuthError>

  private struct State {
    var task: Task<Void, Never>?
    var isCancelled = false
  }

  /// How it ended; there once, for everyone.
  let outcome = OneShot<Outcome>()
  private let state = Locked(State())

  /// Starts the work, which resolves ``outcome``; cancelled at once if ``cancel()`` came before.
  func start(_ work: @escaping @Sendable () async -> Void) {
    let task = Task { await work() }
    let isCancelled = state.withLock { state in
      state.task = task
      return state.isCancelled
    }
    if isCancelled { task.cancel() }
  }

  /// Ends the work as soon as it can be.
  func cancel() {
    let task = state.withLock { state in
      state.isCancelled = true
      return state.task
    }
    task?.cancel()
  }
}
