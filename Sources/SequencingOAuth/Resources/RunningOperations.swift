import LoopbackHTTP

/// The operations of a pipe that have not ended, so that all of them can be cancelled.
final class RunningOperations: Sendable {
  private struct State {
    var cancels: [Int: @Sendable () -> Void] = [:]
    var last = 0
  }

  private let state = Locked(State())

  /// Runs an operation; cancelling the calling task ends it too.
  func run<Value: Sendable>(
    _ operation: @escaping @Sendable () async throws(PipeError) -> Value
  ) async -> Result<Value, PipeError> {
    let id = state.withLock { state in
      state.last += 1
      return state.last
    }
    // The call that is made in a cancelled task is not to ask for anything.
    if Task.isCancelled { return .failure(.cancelled) }
    let task = Task.startingHere { () async -> Result<Value, PipeError> in
      do throws(PipeError) {
        return .success(try await operation())
      } catch {
        return .failure(error)
      }
    }
    state.withLock { $0.cancels[id] = task.cancel }
    defer { state.withLock { _ = $0.cancels.removeValue(forKey: id) } }
    return await withTaskCancellationHandler {
      await task.value
    } onCancel: {
      task.cancel()
    }
  }

  func cancelAll() {
    let cancels = state.withLock { Array($0.cancels.values) }
    for cancel in cancels { cancel() }
  }
}
