import SQBasics

// Errors of callers that get no token although neither a server nor a store failed.
extension SQOAuthError {
  /// The error if no user is signed in.
  static let notSignedIn = SQOAuthError(.notAuthorized, "no user is signed in: sign in first")

  /// The error if a new token is needed and there is no refresh token.
  static let cannotRefresh = SQOAuthError(
    .notAuthorized, "a new access token is needed, and there is no refresh token; sign in again")

  /// The error if the caller's task was cancelled while it waited.
  package static let waitCancelled = SQOAuthError(
    .cancelled, "the task that called the SDK was cancelled before the operation had finished")

  /// The error if the caller's time limit passed before the token came.
  static let stillUnderWay = SQOAuthError(
    .requestTimedOut,
    "no new token came within the client's time limit; the request continues, and the next call "
      + "gets its token; call flush() before the program ends")

  /// The error if the caller's time limit passed while the store made earlier changes of the
  /// account.
  static let storeStillBusy = SQOAuthError(
    .requestTimedOut,
    "the store has not finished earlier changes of the account within the client's time limit; they "
      + "continue, and the next call waits for them too")

  /// The error if the sign-in was cancelled before it brought a token.
  static let signInCancelled = SQOAuthError(.cancelled, "the sign-in was cancelled")

  /// The error of a request that waited while another user signed in; nothing was sent.
  package static func sessionReplaced(ofAccount id: String) -> SQOAuthError {
    SQOAuthError(
      .sessionReplaced,
      "another user may have signed in to the account \"\(id.printable)\" while this request "
        + "waited; the request was not sent, because it belongs to the previous sign-in")
  }

  /// The error of a demand for a sign-in whose user is no longer signed in.
  static func demandOutdated(ofAccount id: String) -> SQOAuthError {
    SQOAuthError(
      .sessionReplaced,
      "since the request failed, another user may have signed in to the account "
        + "\"\(id.printable)\", or the app has ended the session; do not repeat the request, "
        + "because it belongs to the previous sign-in")
  }

  /// The error of a revocation that found a later sign-in; `cause` is the reason why the server did
  /// not revoke the earlier sign-in's tokens.
  static func signInReplaced(ofAccount id: String, cause: SQOAuthError? = nil) -> SQOAuthError {
    SQOAuthError(
      .sessionReplaced,
      "another user may have signed in to the account \"\(id.printable)\" meanwhile, and that "
        + "sign-in stays", cause: cause)
  }

  /// The error if the app passes neither an access token nor a refresh token.
  static let emptyToken = SQOAuthError(
    .notAuthorized, "there is no token to continue with: sign the user in")

  /// The error if the session ended while the SDK adopted a token from the app.
  static let endedMeanwhile = SQOAuthError(
    .cancelled, "the user was signed out while the SDK adopted the token")
}
