import SQBasics

/// A running change of a session's token: a renewal, or the takeover of another token.
///
/// A session makes one change at a time. A later takeover or the end of the session invalidates the
/// change, and its result is ignored.
struct TokenChange: Sendable {
  /// The task that makes the change; all waiting callers get its outcome.
  ///
  /// If the outcome contains no token, the callers ask the session for a token again.
  let work = SharedWork<SQToken?, SQOAuthError>()
  /// The number of the change among the session's changes.
  let number: Int
  /// The record that a takeover saves in the store, and that is not in memory yet.
  var incoming: AccountRecord?
  /// A count of the callers that wait for the change's token, except the SDK's timer, an
  /// `AccountKeeper` and callers that need a token for a part of the account's rights.
  final class Callers: Sendable {
    private let number = Locked(0)

    var count: Int { number.withLock(\.self) }

    func add() { number.withLock { $0 += 1 } }
  }

  let callers = Callers()
  /// A signal that the change has ended or turns out to be slow.
  ///
  /// Waiting callers check their time limit only after this signal. So a change of usual speed
  /// needs one timer, however many callers wait for it.
  private let news = OneShot<Void>()

  /// The time after which a change counts as slow; most changes end sooner.
  static let usualTime = Duration.milliseconds(250)

  /// Runs `work`, and then passes its outcome to all waiting callers.
  func run(_ work: @escaping @Sendable () async -> SharedWork<SQToken?, SQOAuthError>.Outcome) {
    self.work.start(here: true) {
      let watch = Task {
        try await Task.sleep(for: Self.usualTime)
        isSlow()
      }
      end(await work())
      watch.cancel()
    }
  }

  /// Makes waiting callers check their time limit from now on.
  func isSlow() {
    news.resolve(())
  }

  /// Cancels the change's task and makes all waiting callers ask the session for a token again.
  func supersede() {
    work.cancel()
    finish()
  }

  /// Makes all waiting callers ask the session for a token again.
  func finish() {
    end(.success(nil))
  }

  private func end(_ outcome: SharedWork<SQToken?, SQOAuthError>.Outcome) {
    work.outcome.resolve(outcome)
    news.resolve(())
  }

  /// Waits for the outcome; returns `nil` at the time limit or if the caller's task is cancelled.
  func outcome(
    until end: ContinuousClock.Instant?
  ) async -> SharedWork<SQToken?, SQOAuthError>.Outcome? {
    guard let end else { return await work.outcome.value() }
    guard await news.value() != nil else { return nil }
    if let outcome = await work.outcome.wait(until: end) { return outcome }
    // If this process was suspended in the meantime, the response may already have arrived, so the
    // caller waits a little longer.
    let now = ContinuousClock.now
    return now < end + Self.usualTime ? nil : await work.outcome.wait(until: now + Self.usualTime)
  }
}
