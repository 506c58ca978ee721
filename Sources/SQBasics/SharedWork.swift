/// A piece of work that any number of callers can wait for and that outlives each of them.
@usableFromInline
package final class SharedWork<Value: Sendable, Failure: Error>: Sendable {
  package typealias Outcome = Result<Value, Failure>

  /// The result of the work, set once for all callers.
  package let outcome = OneShot<Outcome>()
  private let interruption = Interruption()

  package init() {}

  /// Starts the work in a task; the work must resolve ``outcome``.
  ///
  /// If ``cancel()`` was called before, the task starts cancelled. With `here`, the work runs on
  /// the caller's thread until it suspends for the first time.
  package func start(here: Bool = false, _ work: @escaping @Sendable () async -> Void) {
    let task = here ? Task.startingHere { await work() } : Task { await work() }
    interruption.whenRaised(task.cancel)
  }

  /// Cancels the work's task, now or when it starts.
  package func cancel() {
    interruption.raise()
  }
}
