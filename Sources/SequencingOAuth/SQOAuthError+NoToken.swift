// Errors of callers that get no token for a reason on this machine: neither a server nor a store
// failed.
extension SQOAuthError {
  /// There is no token.
  static let notSignedIn = SQOAuthError(.notAuthorized, "no user is signed in: sign in first")

  /// The token has expired, and there is no refresh token.
  static let cannotRefresh = SQOAuthError(
    .notAuthorized, "the access token has expired and there is no refresh token; sign in again")

  /// The caller's task was cancelled while it waited.
  package static let waitCancelled = SQOAuthError(.cancelled, "the task that waited was cancelled")

  /// The caller's time limit passed before the token came.
  static let stillUnderWay = SQOAuthError(
    .requestTimedOut,
    "no new token came within the client's time limit; the request for it goes on, and the next call "
      + "gets its token; before the program ends, wait for it: flush()")

  /// The sign-in ended before it brought a token.
  static let signInCancelled = SQOAuthError(.cancelled, "the sign-in was cancelled")

  /// The app passed a token without an access token and a refresh token.
  static let emptyToken = SQOAuthError(
    .notAuthorized, "there is no token to continue with: sign the user in")

  /// The session ended while the SDK adopted a token from the app.
  static let endedMeanwhile = SQOAuthError(
    .cancelled, "the user was signed out while the SDK adopted the token")
}
