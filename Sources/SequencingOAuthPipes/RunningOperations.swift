import SQBasics

/// The running operations of a pipe; all of them can be cancelled together.
///
/// Each operation has an `Interruption` that ends its current step. If the step is a request, the
/// interruption ends the request directly. Any other step runs in a separate task. The interruption
/// cancels that task, and the caller's task continues. A request has no separate task, because a
/// task would make small requests slower.
final class RunningOperations: Sendable {
  private struct State {
    var operations: [Int: Interruption] = [:]
    var last = 0
  }

  private let state = Locked(State())

  /// Runs an operation, which must end when ``cancelAll()`` raises its interruption.
  func run<Value, Failure>(
    _ operation: (Interruption) async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let (id, interruption) = begin()
    defer { end(id) }
    return try await operation(interruption)
  }

  /// Cancels all running operations, including those that have not started a step yet.
  func cancelAll() {
    for operation in state.withLock({ Array($0.operations.values) }) { operation.raise() }
  }

  /// Begins an operation; ``end(_:)`` must follow.
  func begin() -> (id: Int, Interruption) {
    let interruption = Interruption()
    return state.withLock { state in
      state.last += 1
      state.operations[state.last] = interruption
      return (state.last, interruption)
    }
  }

  func end(_ id: Int) {
    // What the interruption calls may hold an object of the app.
    let ended = state.withLock { $0.operations.removeValue(forKey: id) }
    withExtendedLifetime(ended) {}
  }
}
