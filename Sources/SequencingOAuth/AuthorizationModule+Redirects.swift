#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

// Redirects that the app receives itself, instead of the SDK's loopback receiver.

extension AuthorizationModule {
  /// Passes on the text of a URL with which the app was opened.
  ///
  /// Returns `true` if the URL was the answer to the sign-in under way. `false` means that it had
  /// no effect: it is for another part of the app, or for another sign-in; `receiveRedirect(_:)`
  /// tells which.
  @discardableResult
  public func handleRedirect(_ redirect: String) -> Bool {
    receiveRedirect(redirect) == .answered
  }

  /// Passes on a URL with which the app was opened.
  ///
  /// Returns `true` if it was the answer to the sign-in under way; see
  /// ``handleRedirect(_:)-(String)``.
  @discardableResult
  public func handleRedirect(_ redirect: URL) -> Bool {
    receiveRedirect(redirect) == .answered
  }

  /// Passes on the text of a URL with which the app was opened, and returns what happened to it.
  ///
  /// Any thread may call it; it returns at once. Only ``RedirectOutcome/answered`` means that the
  /// URL had an effect.
  public func receiveRedirect(_ redirect: String) -> RedirectOutcome {
    signIns.offer(redirect)
  }

  /// Passes on a URL with which the app was opened, and returns what happened to it.
  ///
  /// Any thread may call it; it returns at once. Only ``RedirectOutcome/answered`` means that the
  /// URL had an effect.
  public func receiveRedirect(_ redirect: URL) -> RedirectOutcome {
    receiveRedirect(redirect.absoluteString)
  }

  /// Passes on a form that the browser posted to the redirect URI, and returns what happened to it.
  ///
  /// It is for a web server of the app, and a sign-in with ``SignInOptions/ResponseMode/formPost``.
  /// `form` is the body of the POST, and `redirectURI` the address to which it was posted. Any
  /// thread may call it; it returns at once.
  ///
  /// - SeeAlso: OAuth 2.0 Form Post Response Mode
  public func receiveRedirect(form: Data, at redirectURI: String) -> RedirectOutcome {
    PostedRedirect.url(form: form, at: redirectURI).map(receiveRedirect) ?? .foreignAddress
  }
}
