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
  /// to ``SQOAuth/handleRedirect(_:)``. It may also stay until the user is done, and it is
  /// cancelled when the sign-in ends. Throwing ends the sign-in: an ``SQOAuthError`` as it is
  /// (``SQOAuthError/Code/cancelled`` when the user closed the window), any other error as
  /// ``SQOAuthError/Code/browserUnavailable``.
  func open(_ url: URL) async throws
}

/// A user agent made of a closure, for apps that open URLs in a way of their own.
public struct CustomUserAgent: UserAgent {
  private let opener: @Sendable (URL) async throws -> Void

  /// Wraps a closure, which is called as ``UserAgent/open(_:)`` is.
  public init(_ opener: @escaping @Sendable (URL) async throws -> Void) {
    self.opener = opener
  }

  /// Calls the closure.
  public func open(_ url: URL) async throws {
    try await opener(url)
  }
}
