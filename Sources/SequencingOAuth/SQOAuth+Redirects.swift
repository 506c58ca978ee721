#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

// Redirects that the app receives itself, instead of the SDK's loopback receiver.

extension SQOAuth {
  /// Passes on a URL with which the app was opened, for a redirect URI that the app receives
  /// itself.
  ///
  /// Returns `true` if the URL was the answer to the sign-in under way. `false` means that it had
  /// no effect: it is for another part of the app, or for another sign-in; `receiveRedirect(_:)`
  /// tells which.
  @discardableResult
  public func handleRedirect(_ redirect: URL) -> Bool {
    receiveRedirect(redirect) == .answered
  }

  /// Passes on the text of a URL with which the app was opened.
  ///
  /// Returns `true` if it was the answer to the sign-in under way; see
  /// ``handleRedirect(_:)-(URL)``.
  @discardableResult
  public func handleRedirect(_ redirect: String) -> Bool {
    receiveRedirect(redirect) == .answered
  }

  /// Passes on a URL with which the app was opened, and returns what happened to it.
  ///
  /// Any thread may call it; it returns at once. Only ``RedirectOutcome/answered`` means that the
  /// URL had an effect.
  public func receiveRedirect(_ redirect: URL) -> RedirectOutcome {
    module.receiveRedirect(redirect)
  }

  /// Passes on the text of a URL with which the app was opened, and returns what happened to it.
  ///
  /// Any thread may call it; it returns at once. Only ``RedirectOutcome/answered`` means that the
  /// URL had an effect.
  public func receiveRedirect(_ redirect: String) -> RedirectOutcome {
    module.receiveRedirect(redirect)
  }

  /// Passes on a form that the browser posted to the redirect URI, and returns what happened to it.
  ///
  /// See ``AuthorizationModule/receiveRedirect(form:at:)``.
  public func receiveRedirect(form: Data, at redirectURI: String) -> RedirectOutcome {
    module.receiveRedirect(form: form, at: redirectURI)
  }
}
