import SQBasics
import SQFoundation

extension SQOAuthError {
  /// Creates the error of a sign-in or logout from an error of its user agent.
  ///
  /// If the error is not an `SQOAuthError`, the message contains only its localized description,
  /// without the `secrets` of the page's URL. The error's other texts could contain anything.
  init(userAgent error: any Error, secrets: [String]) {
    if let error = error as? SQOAuthError {
      self = error
    } else if error is CancellationError {
      self.init(.cancelled, "the user agent cancelled the sign-in or the logout")
    } else {
      let isRefusal = (error as? any SignInPageError)?.isEndOnPage == true
      var message = "the user agent failed, and its error (the cause) does not describe itself"
      if let reason = (error as? any LocalizedError)?.errorDescription {
        let text = SentSecrets(secrets).removed(from: reason)
        message = (isRefusal ? "" : "the user agent failed: ") + text.printable
      }
      self.init(isRefusal ? .signInRefused : .browserUnavailable, message, cause: error)
    }
  }
}
