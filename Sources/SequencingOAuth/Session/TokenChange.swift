import Basics

/// A change of a session's token that is under way: a renewal, or another token on its way in.
///
/// A session makes one change at a time. A later takeover, or the end of the session, makes it void.
struct TokenChange: Sendable {
  /// The work, whose outcome every waiting caller gets.
  ///
  /// Without a token in the outcome a caller asks the session again.
  let work = SharedWork<SQToken?, SQOAuthError>()
  /// The session's changes are counted; this is the change's number.
  let number: Int

  /// Cancels the work and sends every waiting caller to ask the session again.
  func makeVoid() {
    work.cancel()
    finish()
  }

  /// Sends every waiting caller to ask the session again.
  func finish() {
    work.outcome.resolve(.success(nil))
  }
}
