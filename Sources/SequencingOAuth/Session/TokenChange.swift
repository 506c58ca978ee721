import Basics

/// A change of a session's token that is under way: a renewal, or the takeover of another token.
///
/// A session makes one change at a time. A later takeover or the end of the session makes it void:
/// its result does not count any more.
struct TokenChange: Sendable {
  /// The work, whose outcome all waiting callers get.
  ///
  /// If the outcome has no token, a caller asks the session again.
  let work = SharedWork<SQToken?, SQOAuthError>()
  /// The number of the change among the session's changes.
  let number: Int

  /// Cancels the work and makes all waiting callers ask the session again.
  func makeVoid() {
    work.cancel()
    finish()
  }

  /// Makes all waiting callers ask the session again.
  func finish() {
    work.outcome.resolve(.success(nil))
  }
}
