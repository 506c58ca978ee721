import SequencingOAuth

/// Lets Ctrl-C, and the other signals that ask a program to end, cancel what a command does.
///
/// Every command ends in the same way then: its work stops, a refresh that is under way comes to its
/// end, and the program ends with status 3. A second signal ends it at once.
enum Interrupts {
  /// Runs a body in a task that such a signal cancels.
  static func cancelling(
    _ body: @escaping @Sendable () async throws(Failure) -> Void
  ) async throws(Failure) {
    let (gate, opening) = AsyncStream.makeStream(of: Never.self)
    let task = Task { () async -> Result<Void, Failure> in
      for await _ in gate {}
      do throws(Failure) {
        return .success(try await body())
      } catch {
        return .failure(error)
      }
    }
    // The listening begins before anyone can know that something is under way.
    let signals = TerminationSignals { _ in task.cancel() }
    defer { signals.stop() }
    opening.finish()
    try await task.value.get()
  }
}
