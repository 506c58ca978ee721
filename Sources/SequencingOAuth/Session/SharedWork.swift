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
  ///
  /// What is started `here` runs on the caller's thread up to where it first waits.
  func start(here: Bool = false, _ work: @escaping @Sendable () async -> Void) {
    let task = here ? Task.startingHere { await work() } : Task { await work() }
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

extension Task where Failure == Never {
  /// A task of its own that runs on the caller's thread up to where it first waits, which saves
  /// waking another one.
  @discardableResult
  package static func startingHere(
    _ operation: sending @escaping @isolated(any) () async -> Success
  ) -> Task<Success, Never> {
    if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
      return Task.immediate(operation: operation)
    }
    return Task(operation: operation)
  }
}
