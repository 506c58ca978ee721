import Basics

/// The operations of a pipe that have not ended, so that all of them can be cancelled.
///
/// An operation has a task of its own, so that it can be cancelled and its caller's task is not. One
/// that is a single exchange does without, since going from task to task costs a part of a small
/// request.
final class RunningOperations: Sendable {
  private struct State {
    var operations: [Int: Interruption] = [:]
    var last = 0
  }

  private let state = Locked(State())

  /// Runs an operation; cancelling the calling task ends it too.
  func run<Value: Sendable>(
    _ operation: @escaping @Sendable () async throws(PipeError) -> Value
  ) async -> Result<Value, PipeError> {
    // The call that is made in a cancelled task is not to ask for anything.
    if Task.isCancelled { return .failure(.cancelled) }
    let (id, interruption) = begin()
    defer { end(id) }
    return await run(interruption, operation)
  }

  /// Runs an operation that begins with an exchange, which the interruption ends; where that is not
  /// the end, what comes next runs as any other operation does.
  func run<Value: Sendable, Failure>(
    exchange: (Interruption) async throws(Failure) -> Value, isEnd: (Value) -> Bool,
    next: @escaping @Sendable (Value) async throws(PipeError) -> Value
  ) async throws(Failure) -> Result<Value, PipeError> {
    let (id, interruption) = begin()
    defer { end(id) }
    let value = try await exchange(interruption)
    if isEnd(value) { return .success(value) }
    return await run(interruption) { () async throws(PipeError) in try await next(value) }
  }

  private func run<Value: Sendable>(
    _ interruption: Interruption,
    _ operation: @escaping @Sendable () async throws(PipeError) -> Value
  ) async -> Result<Value, PipeError> {
    let task = Task.startingHere { () async -> Result<Value, PipeError> in
      do throws(PipeError) {
        return .success(try await operation())
      } catch {
        return .failure(error)
      }
    }
    interruption.whenRaised(task.cancel)
    return await withTaskCancellationHandler {
      await task.value
    } onCancel: {
      task.cancel()
    }
  }

  /// Cancels those that have begun, also where their tasks are only being made.
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
