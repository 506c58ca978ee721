import LoopbackHTTP

/// Work that any number of callers wait for and that none of them owns.
final class SharedWork<Value: Sendable>: Sendable {
  typealias Outcome = Result<Value, SQOAuthError>

  /// How it ended; there once, for everyone.
  let outcome = OneShot<Outcome>()
  private let interruption = Interruption()

  /// Starts the work, which resolves ``outcome``; cancelled at once if ``cancel()`` came before.
  ///
  /// What is started `here` runs on the caller's thread up to where it first waits.
  func start(here: Bool = false, _ work: @escaping @Sendable () async -> Void) {
    let task = here ? Task.startingHere { await work() } : Task { await work() }
    interruption.whenRaised(task.cancel)
  }

  /// Ends the work as soon as it can be.
  func cancel() {
    interruption.raise()
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
