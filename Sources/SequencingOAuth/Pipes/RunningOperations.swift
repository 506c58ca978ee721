import Basics

/// The operations of a pipe that have not ended, so that all of them can be cancelled.
///
/// Each operation has an ``Interruption``, which ends what the operation is doing. A request ends by it
/// as it is. Anything else runs in a task of its own, which the interruption cancels while the caller's
/// task goes on. A request goes without, since changing tasks costs a part of a small request.
final class RunningOperations: Sendable {
  private struct State {
    var operations: [Int: Interruption] = [:]
    var last = 0
  }

  private let state = Locked(State())

  /// Runs an operation, which ends what it does when ``cancelAll()`` raises the interruption.
  func run<Value, Failure>(
    _ operation: (Interruption) async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let (id, interruption) = begin()
    defer { end(id) }
    return try await operation(interruption)
  }

  /// Cancels the operations that have begun, also those that have nothing to end yet.
  func cancelAll() {
    for operation in state.withLock({ Array($0.operations.values) }) { operation.raise() }
  }

  private func begin() -> (id: Int, Interruption) {
    let interruption = Interruption()
    return state.withLock { state in
      state.last += 1
      state.operations[state.last] = interruption
      return (state.last, interruption)
    }
  }

  private func end(_ id: Int) {
    state.withLock { _ = $0.operations.removeValue(forKey: id) }
  }
}
