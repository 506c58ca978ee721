/// A switch that ends one piece of work from any thread, even before the work has started.
package final class Interruption: Sendable {
  private struct State {
    var isRaised = false
    var action: (@Sendable () -> Void)?
  }

  private let state = Locked(State())

  package init() {}

  /// Whether ``raise()`` was called, so the work has ended or will end when it starts.
  package var isRaised: Bool { state.withLock(\.isRaised) }

  /// Runs the action that ends the work, now or when ``whenRaised(_:)`` sets it.
  package func raise() {
    let action = state.withLock { state in
      state.isRaised = true
      return state.action.take()
    }
    action?()
  }

  /// Sets the action that ends the work, and runs it at once if ``raise()`` was called before.
  package func whenRaised(_ action: @escaping @Sendable () -> Void) {
    let isRaised = state.change { state in
      if !state.isRaised { state.action = action }
      return state.isRaised
    }
    if isRaised { action() }
  }

  /// Runs an operation in a new task, and returns its result.
  ///
  /// The interruption cancels that task, and so does the cancellation of the calling task.
  package func result<Value: Sendable, Failure>(
    of operation: @escaping @Sendable () async throws(Failure) -> Value
  ) async -> Result<Value, Failure> {
    let task = Task.startingHere { await Result.of(operation) }
    whenRaised(task.cancel)
    return await withTaskCancellationHandler {
      await task.value
    } onCancel: {
      task.cancel()
    }
  }

  /// Runs an operation in a new task, and returns its result, or `failure` as soon as the
  /// interruption is raised.
  ///
  /// The interruption also cancels the task, but does not wait for its end, because the app's code
  /// may ignore the cancellation.
  package func result<Value: Sendable, Failure>(
    of operation: @escaping @Sendable () async throws(Failure) -> Value,
    orIfRaised failure: Failure
  ) async -> Result<Value, Failure> {
    let outcome = OneShot<Result<Value, Failure>>()
    let task = Task { outcome.resolve(await .of(operation)) }
    whenRaised {
      task.cancel()
      outcome.resolve(.failure(failure))
    }
    return await outcome.wait()
  }
}
