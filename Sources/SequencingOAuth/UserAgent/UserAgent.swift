#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Shows the authorization server's pages to the user, in a program that the app cannot look into.
///
/// ``SystemBrowser`` is the default. An embedded web view is not one: it would let the app read
/// the user's password (RFC 8252, section 8.12).
public protocol UserAgent: Sendable {
  /// Opens an authorization URL; called once for each sign-in, off the main thread.
  ///
  /// Return when the browser has the URL: the redirect comes back by itself, or the app passes it
  /// to ``SQOAuth/handleRedirect(_:)-(URL)``. It may also stay until the user is done, and it is
  /// cancelled when the sign-in ends. Throwing ends the sign-in: an ``SQOAuthError`` as it is
  /// (``SQOAuthError/Code/cancelled`` when the user closed the window,
  /// ``SQOAuthError/Code/signInRefused`` when the server's page leads no further), any other error
  /// as ``SQOAuthError/Code/browserUnavailable``. That error's message repeats the text of a
  /// `LocalizedError`, which must hold no secret; the `state` is taken out of it.
  ///
  /// What the visitor of `OAuthSandbox` throws when its visit ends on a page becomes
  /// ``SQOAuthError/Code/signInRefused`` by itself.
  func open(_ url: URL) async throws

  /// Opens an authorization URL for a sign-in that it knows; called in place of ``open(_:)``.
  ///
  /// Write this one for a user agent that serves several accounts, or that gets the redirect
  /// itself: ``PendingSignIn/handleRedirect(_:)-(String)`` takes it. Unless a user agent has one of
  /// its own, this calls ``open(_:)``, and it may end in the same ways.
  func open(_ url: URL, for signIn: PendingSignIn) async throws
}

extension UserAgent {
  /// Opens the URL whichever sign-in it is for, by ``open(_:)``.
  public func open(_ url: URL, for signIn: PendingSignIn) async throws {
    try await open(url)
  }
}

/// A user agent made of a closure, for apps that open URLs in a way of their own.
public struct CustomUserAgent: UserAgent {
  private let opener: @Sendable (URL, PendingSignIn?) async throws -> Void

  /// Wraps a closure, which is called as ``UserAgent/open(_:)`` is.
  public init(_ opener: @escaping @Sendable (URL) async throws -> Void) {
    self.opener = { url, _ in try await opener(url) }
  }

  /// Wraps a closure, which is called as ``UserAgent/open(_:for:)`` is.
  public init(_ opener: @escaping @Sendable (URL, PendingSignIn) async throws -> Void) {
    self.opener = { url, signIn in
      guard let signIn else {
        throw SQOAuthError(
          .browserUnavailable, "this user agent must know the sign-in: call open(_:for:)")
      }
      try await opener(url, signIn)
    }
  }

  /// Calls the closure; one that takes a sign-in cannot be called so, which throws.
  public func open(_ url: URL) async throws {
    try await opener(url, nil)
  }

  /// Calls the closure.
  public func open(_ url: URL, for signIn: PendingSignIn) async throws {
    try await opener(url, signIn)
  }
}
