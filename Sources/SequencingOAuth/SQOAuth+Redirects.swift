#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

// Redirects that the app receives itself, instead of the SDK's loopback receiver.

extension SQOAuth {
  /// Handles a URL that opened the app, and returns whether it answered the sign-in under way.
  ///
  /// Use it for a redirect URI that the app receives itself. The result `false` means that the URL
  /// had no effect: it is for another part of the app, or for another sign-in.
  /// `receiveRedirect(_:)` says which.
  @discardableResult
  public func handleRedirect(_ redirect: URL) -> Bool {
    receiveRedirect(redirect) == .answered
  }

  /// Handles the text of a URL that opened the app, and returns whether it answered the sign-in
  /// under way.
  ///
  /// See ``handleRedirect(_:)-(URL)``.
  @discardableResult
  public func handleRedirect(_ redirect: String) -> Bool {
    receiveRedirect(redirect) == .answered
  }

  /// Handles a URL that opened the app, and returns what happened to it.
  ///
  /// Any thread may call it; it returns at once. Only ``RedirectOutcome/answered`` means that the
  /// URL had an effect.
  public func receiveRedirect(_ redirect: URL) -> RedirectOutcome {
    module.receiveRedirect(redirect)
  }

  /// Handles the text of a URL that opened the app, and returns what happened to it.
  ///
  /// Any thread may call it; it returns at once. Only ``RedirectOutcome/answered`` means that the
  /// URL had an effect.
  public func receiveRedirect(_ redirect: String) -> RedirectOutcome {
    module.receiveRedirect(redirect)
  }

  /// Handles a form that the browser posted to the redirect URI, and returns what happened to it.
  ///
  /// See ``AuthorizationModule/receiveRedirect(form:at:)``.
  public func receiveRedirect(form: Data, at redirectURI: String) -> RedirectOutcome {
    module.receiveRedirect(form: form, at: redirectURI)
  }
}
