import SQBasics
import SequencingOAuth

extension SQOAuth {
  /// Runs `work`, then waits until the store contains the newest token, even if `work` failed.
  ///
  /// A command's work with an account ends with this wait, even if a signal interrupts the command.
  func flushing(
    _ console: Console, _ work: () async throws(Failure) -> Void
  ) async throws(Failure) {
    var failure: Failure?
    do throws(Failure) {
      try await work()
    } catch {
      failure = error
    }
    module.refreshesAutomatically = false
    // After the first signal, the next one ends the program at once.
    let advice = Task.isCancelled ? " Ctrl-C ends the program at once." : ""
    let timer = Task {
      try await Task.sleep(for: .seconds(1))
      console.progress(
        "Waiting for a refresh in progress, or for the store to save its token.\(advice)")
    }
    defer { timer.cancel() }
    do throws(SQOAuthError) {
      try await module.flush()
    } catch {
      // If there is no token in memory, the session has ended, and the store could not erase its
      // account.
      guard module.hasAccessToken else {
        let erasure = Failure(notErased: error)
        guard let failure else { throw erasure }
        guard failure.code != erasure.code else { throw failure.withHint(Failure.stillStored) }
        console.report(erasure)
        throw failure
      }
      if let failure, failure.code != error.code.rawValue { console.report(failure) }
      throw Failure(notKept: error)
    }
    if let failure { throw failure }
  }
}
