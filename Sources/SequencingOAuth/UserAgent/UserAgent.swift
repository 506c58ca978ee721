#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Shows the authorization server's pages to the user, in a program that the app cannot look into.
///
/// ``SystemBrowser`` is the default. Do not use an embedded web view: through it the app could read
/// the user's password (RFC 8252, section 8.12).
public protocol UserAgent: Sendable {
  /// Opens an authorization URL; the SDK calls it once for each sign-in, off the main thread.
  ///
  /// Return when the browser has the URL: the redirect comes back by itself, or the app passes it
  /// to ``SQOAuth/handleRedirect(_:)-(URL)``. The method may also wait until the user is done; its
  /// task is cancelled when the sign-in ends.
  ///
  /// An error that it throws ends the sign-in. An ``SQOAuthError`` becomes the sign-in's error as
  /// it is: throw ``SQOAuthError/Code/cancelled`` when the user closed the window, and
  /// ``SQOAuthError/Code/signInRefused`` when the server's page leads no further. Any other error
  /// becomes ``SQOAuthError/Code/browserUnavailable``. The text of a `LocalizedError` is repeated
  /// in the message of the sign-in's error, without the `state`, so it must contain no secret.
  ///
  /// An error of `SandboxVisitor` in `OAuthSandbox`, thrown because its visit ended on a page,
  /// becomes ``SQOAuthError/Code/signInRefused``.
  func open(_ url: URL) async throws

  /// Opens an authorization URL, and gets the sign-in to which the URL belongs.
  ///
  /// The SDK calls this method; by default it calls ``open(_:)``, whose rules for returning and
  /// throwing hold here too. Implement it in a user agent that serves several accounts, or that
  /// receives the redirect itself and passes it to ``PendingSignIn/handleRedirect(_:)-(String)``.
  func open(_ url: URL, for signIn: PendingSignIn) async throws

  /// Tells that a redirect came which said an error and does not name the sign-in, for the user.
  ///
  /// The sign-in goes on: without a `state` the redirect may come from anyone. But if the server
  /// forgot the `state`, nothing else will come, and the user can cancel the sign-in. The SDK calls
  /// this at most once for each sign-in, on any thread. The default does nothing.
  func didRefuse(_ error: SQOAuthError, for signIn: PendingSignIn)
}

extension UserAgent {
  /// Does nothing.
  public func didRefuse(_ error: SQOAuthError, for signIn: PendingSignIn) {}

  /// Opens the URL by ``open(_:)``, which does not get the sign-in.
  public func open(_ url: URL, for signIn: PendingSignIn) async throws {
    try await open(url)
  }
}

/// A user agent made from a closure, for an app that opens URLs in its own way.
public struct CustomUserAgent: UserAgent {
  private let opener: @Sendable (URL, PendingSignIn?) async throws -> Void

  /// Makes a user agent from a closure, for which the rules of ``UserAgent/open(_:)`` hold.
  public init(_ opener: @escaping @Sendable (URL) async throws -> Void) {
    self.opener = { url, _ in try await opener(url) }
  }

  /// Makes a user agent from a closure, for which the rules of ``UserAgent/open(_:for:)`` hold.
  public init(_ opener: @escaping @Sendable (URL, PendingSignIn) async throws -> Void) {
    self.opener = { url, signIn in
      guard let signIn else {
        throw SQOAuthError(
          .browserUnavailable, "this user agent needs the sign-in: call open(_:for:)")
      }
      try await opener(url, signIn)
    }
  }

  /// Calls the closure with the URL; throws if the closure also takes a ``PendingSignIn``.
  public func open(_ url: URL) async throws {
    try await opener(url, nil)
  }

  /// Calls the closure with the URL and the sign-in.
  public func open(_ url: URL, for signIn: PendingSignIn) async throws {
    try await opener(url, signIn)
  }
}
