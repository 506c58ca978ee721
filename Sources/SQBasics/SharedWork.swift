/// A piece of work for which any number of callers wait, and which belongs to none of them.
package final class SharedWork<Value: Sendable, Failure: Error>: Sendable {
  package typealias Outcome = Result<Value, Failure>

  /// The result of the work; it arrives once, for all callers.
  package let outcome = OneShot<Outcome>()
  private let interruption = Interruption()

  package init() {}

  /// Starts the work, which must resolve ``outcome``; after an earlier ``cancel()`` it starts
  /// cancelled.
  ///
  /// With `here`, the work runs on the caller's thread until it waits for the first time.
  package func start(here: Bool = false, _ work: @escaping @Sendable () async -> Void) {
    let task = here ? Task.startingHere { await work() } : Task { await work() }
    interruption.whenRaised(task.cancel)
  }

  /// Cancels the work's task, now or when it starts.
  package func cancel() {
    interruption.raise()
  }
}
