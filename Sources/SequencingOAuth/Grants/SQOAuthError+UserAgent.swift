import SQBasics
import SQFoundation

extension SQOAuthError {
  /// Creates the error of a sign-in or logout from an error of its user agent.
  ///
  /// If the error is not an `SQOAuthError`, the message contains only its localized description,
  /// without the secrets in the URL of the page. The error's other texts could contain anything.
  init(userAgent error: any Error, opening url: URL) {
    if let error = error as? SQOAuthError {
      self = error
    } else if error is CancellationError {
      self.init(.cancelled, "the user agent cancelled the sign-in or the logout")
    } else {
      let isRefusal = (error as? any SignInPageError)?.isEndOnPage == true
      var message = "the user agent failed, and its error (the cause) does not describe itself"
      if let reason = (error as? any LocalizedError)?.errorDescription {
        let text = SentSecrets(Self.secrets(inPage: url)).removed(from: reason)
        message = (isRefusal ? "" : "the user agent failed: ") + text.printable
      }
      self.init(isRefusal ? .signInRefused : .browserUnavailable, message, cause: error)
    }
  }

  /// The names of the parameters whose values in a page's URL are secret.
  ///
  /// A `request` contains all parameters of a signed request. Who knows the `request_uri` of a
  /// pushed request can open that request in another browser.
  private static let secretNames: Set = [
    "id_token_hint", "nonce", "request", "request_uri", "state",
  ]

  /// Returns the values in a page's URL that no error may show.
  static func secrets(inPage url: URL) -> [String] {
    FormCoding.mend(url.query(percentEncoded: true) ?? "")
      .filter { secretNames.contains($0.name) }.map(\.value)
  }
}
