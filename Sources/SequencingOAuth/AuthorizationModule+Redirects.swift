#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

// Redirects that the app receives itself, and not the SDK's loopback receiver.

extension AuthorizationModule {
  /// Passes on the text of a URL that the app was opened with.
  ///
  /// Returns `true` where it was the answer to the sign-in under way. `false` has no effect: the
  /// URL is for someone else, or for another sign-in. `receiveRedirect(_:)` says which.
  @discardableResult
  public func handleRedirect(_ redirect: String) -> Bool {
    receiveRedirect(redirect) == .answered
  }

  /// Passes on a URL that the app was opened with; see ``handleRedirect(_:)-(String)``.
  @discardableResult
  public func handleRedirect(_ redirect: URL) -> Bool {
    receiveRedirect(redirect) == .answered
  }

  /// Passes on the text of a URL that the app was opened with, and says what became of it.
  ///
  /// From any thread, at once. Anything but ``RedirectOutcome/answered`` has no effect.
  public func receiveRedirect(_ redirect: String) -> RedirectOutcome {
    signIns.offer(redirect)
  }

  /// Passes on a URL that the app was opened with, and says what became of it.
  ///
  /// From any thread, at once. Anything but ``RedirectOutcome/answered`` has no effect.
  public func receiveRedirect(_ redirect: URL) -> RedirectOutcome {
    receiveRedirect(redirect.absoluteString)
  }
}

extension SQOAuth {
  /// Passes on a URL that the app was opened with, for a redirect URI that the app receives itself.
  ///
  /// Returns `true` where it was the answer to the sign-in under way. `false` has no effect: the
  /// URL is for someone else, or for another sign-in. `receiveRedirect(_:)` says which.
  @discardableResult
  public func handleRedirect(_ redirect: URL) -> Bool {
    receiveRedirect(redirect) == .answered
  }

  /// Passes on the text of a URL that the app was opened with; see ``handleRedirect(_:)-(URL)``.
  @discardableResult
  public func handleRedirect(_ redirect: String) -> Bool {
    receiveRedirect(redirect) == .answered
  }

  /// Passes on a URL that the app was opened with, and says what became of it.
  ///
  /// From any thread, at once. Anything but ``RedirectOutcome/answered`` has no effect.
  public func receiveRedirect(_ redirect: URL) -> RedirectOutcome {
    module.receiveRedirect(redirect)
  }

  /// Passes on the text of a URL that the app was opened with, and says what became of it.
  ///
  /// From any thread, at once. Anything but ``RedirectOutcome/answered`` has no effect.
  public func receiveRedirect(_ redirect: String) -> RedirectOutcome {
    module.receiveRedirect(redirect)
  }
}
