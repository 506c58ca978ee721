public import SQFoundation

// Redirects that the app receives itself, instead of the SDK's loopback receiver.

extension AccountOperations {
  /// Handles the text of a URL that opened the app, and returns whether it answered the sign-in or
  /// the logout under way.
  ///
  /// The result `false` means that the URL was not accepted, for example because it is for another
  /// part of the app or for another sign-in. `receiveRedirect(_:)` tells the cases apart.
  @discardableResult
  public func handleRedirect(_ redirect: String) -> Bool {
    receiveRedirect(redirect) == .answered
  }

  /// Handles a URL that opened the app, and returns whether it answered the sign-in or the logout
  /// under way.
  ///
  /// See ``handleRedirect(_:)-(String)``.
  @discardableResult
  public func handleRedirect(_ redirect: URL) -> Bool {
    receiveRedirect(redirect) == .answered
  }

  /// Handles the text of a URL that opened the app, and returns what happened to it.
  ///
  /// Any thread may call it; it returns at once. Only ``RedirectOutcome/answered`` means that the
  /// sign-in or the logout under way accepted the URL.
  public func receiveRedirect(_ redirect: String) -> RedirectOutcome {
    module.signIns.offer(redirect)
  }

  /// Handles a URL that opened the app, and returns what happened to it.
  ///
  /// Any thread may call it; it returns at once. Only ``RedirectOutcome/answered`` means that the
  /// sign-in or the logout under way accepted the URL.
  public func receiveRedirect(_ redirect: URL) -> RedirectOutcome {
    receiveRedirect(redirect.absoluteString)
  }

  /// Handles a form that the browser posted to the redirect URI, and returns what happened to it.
  ///
  /// Use it in an app with its own web server, for a sign-in with
  /// ``SignInOptions/ResponseMode/formPost``. `form` is the body of the POST, and `redirectURI` the
  /// address to which it was posted. Any thread may call it; it returns at once.
  ///
  /// - SeeAlso: OAuth 2.0 Form Post Response Mode
  public func receiveRedirect(form: Data, at redirectURI: String) -> RedirectOutcome {
    PostedRedirect.url(form: form, at: redirectURI).map(receiveRedirect) ?? .foreignAddress
  }
}
