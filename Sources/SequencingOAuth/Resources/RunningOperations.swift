import LoopbackHTTP

/// The operations of a pipe that have not ended, so that all of them can be cancelled.
///
/// An operation has a task of its own, so that it can be cancelled and its caller's task is not. One
/// that is a single exchange does without, since going from task to task costs a part of a small
/// request.
final class RunningOperations: Sendable {
  private struct Operation {
    /// There as soon as the operation is; what it does first it does before that.
    var cancel: (@Sendable () -> Void)?
    var isCancelled = false
  }

  private struct State {
    var operations: [Int: Operation] = [:]
    var last = 0
  }

  private let state = Locked(State())

  /// Runs an operation; cancelling the calling task ends it too.
  func run<Value: Sendable>(
    _ operation: @escaping @Sendable () async throws(PipeError) -> Value
  ) async -> Result<Value, PipeError> {
    // The call that is made in a cancelled task is not to ask for anything.
    if Task.isCancelled { return .failure(.cancelled) }
    let id = begin()
    defer { end(id) }
    return await run(id, operation)
  }

  /// Runs an operation that begins with an exchange, which the interruption ends; where that is not
  /// the end, what comes next runs as any other operation does.
  func run<Value: Sendable, Failure>(
    exchange: (Interruption) async throws(Failure) -> Value, isEnd: (Value) -> Bool,
    next: @escaping @Sendable (Value) async throws(PipeError) -> Value
  ) async throws(Failure) -> Result<Value, PipeError> {
    let interruption = Interruption()
    let id = begin { interruption.raise() }
    defer { end(id) }
    let value = try await exchange(interruption)
    if isEnd(value) { return .success(value) }
    return await run(id) { () async throws(PipeError) in try await next(value) }
  }

  private func run<Value: Sendable>(
    _ id: Int, _ operation: @escaping @Sendable () async throws(PipeError) -> Value
  ) async -> Result<Value, PipeError> {
    let task = Task.startingHere { () async -> Result<Value, PipeError> in
      do throws(PipeError) {
        return .success(try await operation())
      } catch {
        return .failure(error)
      }
    }
    if hasToEnd(id, by: task.cancel) { task.cancel() }
    return await withTaskCancellationHandler {
      await task.value
    } onCancel: {
      task.cancel()
    }
  }

  /// Cancels those that have begun, also where their tasks are only being made.
  func cancelAll() {
    let cancels = state.withLock { state in
      for id in state.operations.keys { state.operations[id]?.isCancelled = true }
      return state.operations.values.compactMap(\.cancel)
    }
    for cancel in cancels { cancel() }
  }

  private func begin(_ cancel: (@Sendable () -> Void)? = nil) -> Int {
    state.withLock { state in
      state.last += 1
      state.operations[state.last] = Operation(cancel: cancel)
      return state.last
    }
  }

  /// Notes how an operation is cancelled; says whether that was asked for already.
  private func hasToEnd(_ id: Int, by cancel: @escaping @Sendable () -> Void) -> Bool {
    state.withLock { state in
      state.operations[id]?.cancel = cancel
      return state.operations[id]?.isCancelled ?? false
    }
  }

  private func end(_ id: Int) {
    state.withLock { _ = $0.operations.removeValue(forKey: id) }
  }
}
