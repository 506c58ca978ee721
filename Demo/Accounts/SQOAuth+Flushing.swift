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
    do throws(SQOAuthError) {
      try await console.tellingOfLastWait { () throws(SQOAuthError) in try await module.flush() }
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
      failure = console.failure(failure, notKept: error)
    }
    if let failure { throw failure }
  }
}

extension Console {
  /// Returns the failure of a command: that of its work or, if the newest token could not be stored,
  /// the failure `not_kept`.
  ///
  /// In the second case it first reports the failure of the work, unless both have one reason.
  func failure(_ work: Failure?, notKept error: SQOAuthError?) -> Failure? {
    guard let error else { return work }
    if let work, work.code != error.code.rawValue { report(work) }
    return Failure(notKept: error)
  }

  /// Runs a command's last wait, for refreshes and for the store, and tells the user of it if it
  /// takes longer than a second.
  func tellingOfLastWait<Problem>(
    _ wait: () async throws(Problem) -> Void
  ) async throws(Problem) {
    let timer = Task {
      try await Task.sleep(for: .seconds(1))
      // After the first signal, the next one ends the program at once.
      let advice = Interrupts.signalHasArrived ? " Ctrl-C ends the program at once." : ""
      progress("Waiting for a refresh in progress, or for the store to save its token.\(advice)")
    }
    defer { timer.cancel() }
    try await wait()
  }
}
