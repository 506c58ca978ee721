/// Work that any number of callers wait for and that none of them owns.
package final class SharedWork<Value: Sendable, Failure: Error>: Sendable {
  package typealias Outcome = Result<Value, Failure>

  /// How it ended; there once, for everyone.
  package let outcome = OneShot<Outcome>()
  private let interruption = Interruption()

  package init() {}

  /// Starts the work, which resolves ``outcome``; cancelled at once if ``cancel()`` came before.
  ///
  /// What is started `here` runs on the caller's thread up to where it first waits.
  package func start(here: Bool = false, _ work: @escaping @Sendable () async -> Void) {
    let task = here ? Task.startingHere { await work() } : Task { await work() }
    interruption.whenRaised(task.cancel)
  }

  /// Ends the work as soon as it can be.
  package func cancel() {
    interruption.raise()
  }
}
