import SQBasics
import SequencingOAuth
import Synchronization

/// The handling of Ctrl-C and of other signals that ask a program to end: a signal cancels the
/// command's task, and so does a reader of standard output that closes the pipe.
///
/// Every command then ends in the same way: its task stops, and the program waits for the end of a
/// refresh and exits. The exit status is 3, or 0 after a command that runs until it is interrupted,
/// such as `watch`. A second signal ends the program at once, unless it comes within half a second
/// after the first signal.
enum Interrupts {
  private static let hasBegun = Atomic(false)

  /// Whether a signal has asked the program to end, so that the next one ends it at once.
  static var signalHasArrived: Bool { hasBegun.load(ordering: .relaxed) }

  /// Runs a body in a task that a signal or a closed output cancels.
  static func cancelling(
    _ body: @escaping @Sendable () async throws(Failure) -> Void
  ) async throws(Failure) {
    let (gate, opening) = AsyncStream.makeStream(of: Never.self)
    let task = Task { () async -> Result<Void, Failure> in
      for await _ in gate {}
      return await .of(body)
    }
    // The program listens for signals before the body starts, so before the user sees any output.
    let signals = TerminationSignals { _ in
      hasBegun.store(true, ordering: .relaxed)
      task.cancel()
      OutputWaits.end()
    }
    defer { signals.stop() }
    ClosedOutput.cancelling { task.cancel() }
    opening.finish()
    try await task.value.get()
  }
}
