// Why a caller gets no token, where no server and no store has a part in it.
extension SQOAuthError {
  /// There is no token.
  static let notSignedIn = SQOAuthError(.notAuthorized, "no user is signed in: sign in first")

  /// There is a token, but nothing to get a newer one with.
  static let cannotRefresh = SQOAuthError(
    .notAuthorized, "the access token has expired and there is no refresh token; sign in again")

  /// The caller's own task was cancelled while it waited.
  package static let waitCancelled = SQOAuthError(.cancelled, "the task that waited was cancelled")

  /// The caller's time was over before the token came.
  static let stillUnderWay = SQOAuthError(
    .requestTimedOut,
    "no new token came within the client's time limit; the request for it goes on, and the next call "
      + "gets its token; before the program ends, wait for it: settle()")

  /// The sign-in ended before it brought a token.
  static let signInCancelled = SQOAuthError(.cancelled, "the sign-in was cancelled")

  /// The app handed over a token without a value.
  static let emptyToken = SQOAuthError(
    .notAuthorized, "there is no token to continue with: sign the user in")

  /// The session ended while it took over a token of the app's.
  static let endedMeanwhile = SQOAuthError(
    .cancelled, "the user was signed out while the SDK adopted the token")
}
