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
}
