public import SQFoundation

/// A program that shows the authorization server's pages to the user, such as a browser.
///
/// ``SystemBrowser`` is the default. The app must not be able to inspect the pages. So do not use
/// an embedded web view: through it the app could read the user's password (RFC 8252, section
/// 8.12).
public protocol UserAgent: Sendable {
  /// Opens an authorization URL; the SDK calls it for each sign-in, off the main thread.
  ///
  /// The SDK calls it a second time if the server rejects the sign-in's pushed request as expired.
  /// Return as soon as the browser has the URL. The SDK receives the redirect, or the app passes it
  /// to ``AccountOperations/handleRedirect(_:)-(URL)``. The method may also wait until the user has
  /// finished; its task is cancelled when the sign-in ends or, for a logout without a redirect URI,
  /// at ``ClientConfiguration/signInTimeout``.
  ///
  /// An error that it throws ends the sign-in. An ``SQOAuthError`` becomes the sign-in's error
  /// unchanged: throw ``SQOAuthError/Code/cancelled`` if the user closed the window, and
  /// ``SQOAuthError/Code/signInRefused`` if the sign-in cannot continue from the server's page. Any
  /// other error becomes ``SQOAuthError/Code/browserUnavailable``. The text of a `LocalizedError`
  /// is included in the message of the sign-in's error, without the `state`, so it must not contain
  /// a secret.
  ///
  /// If `SandboxVisitor` in `OAuthSandbox` throws an error because its visit ended on a page, that
  /// error becomes ``SQOAuthError/Code/signInRefused``.
  func open(_ url: URL) async throws

  /// Opens an authorization URL, and receives the sign-in that the URL belongs to.
  ///
  /// The SDK calls this method. By default, it calls ``open(_:)``; the rules of that method for
  /// returning and throwing apply here too. Implement this method in a user agent that serves
  /// several accounts, or that receives the redirect itself and passes it to
  /// ``PendingSignIn/handleRedirect(_:)-(String)``.
  func open(_ url: URL, for signIn: PendingSignIn) async throws

  /// Reports that the SDK refused a redirect with an error but without the sign-in's `state`.
  ///
  /// Use it to inform the user. The sign-in continues, because a redirect without a `state` may
  /// come from anyone. But if the server itself omitted the `state`, no other redirect will come,
  /// and the user can cancel the sign-in. The SDK calls this method at most once for each
  /// page that it opens, on any thread. The default implementation does nothing.
  func didRefuse(_ error: SQOAuthError, for signIn: PendingSignIn)
}

extension UserAgent {
  /// Ignores the refused redirect.
  public func didRefuse(_ error: SQOAuthError, for signIn: PendingSignIn) {}

  /// Calls ``open(_:)``, without the sign-in.
  public func open(_ url: URL, for signIn: PendingSignIn) async throws {
    try await open(url)
  }
}

/// A user agent made from a closure, for an app that opens URLs in its own way.
public struct CustomUserAgent: UserAgent {
  private let opener: @Sendable (URL, PendingSignIn?) async throws -> Void

  /// Creates a user agent from a closure with the rules of ``UserAgent/open(_:)``.
  public init(_ opener: @escaping @Sendable (URL) async throws -> Void) {
    self.opener = { url, _ in try await opener(url) }
  }

  /// Creates a user agent from a closure with the rules of ``UserAgent/open(_:for:)``.
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
