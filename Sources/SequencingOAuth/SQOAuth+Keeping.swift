import Basics

/// Tokens that outlive the program.
extension SQOAuth {
  /// Keeps tokens in an encrypted file of the user's, and goes on with the token that is there.
  ///
  /// ```swift
  /// try SQOAuth.shared.keepTokens(as: "com.example.app")
  /// ```
  ///
  /// The token is read soon after this call; ``restore(_:)`` says when, and whether there is one.
  ///
  /// The file is `$XDG_STATE_HOME/SERVICE/tokens.sealed`, or `~/.local/state/SERVICE/tokens.sealed`,
  /// with its key beside it; see ``EncryptedFileTokenStore``. `service` keeps apps apart. Call it once,
  /// at the start of the program.
  ///
  /// - Throws: ``SQOAuthError/Code/invalidConfiguration`` for a name that is empty, starts with a dot
  ///   or has a slash, ``SQOAuthError/Code/storeFailed`` if there is no folder for the file.
  public func keepTokens(as service: String) throws(SQOAuthError) {
    keepTokens(in: try EncryptedFileTokenStore(service: service))
  }

  /// Keeps tokens in a store, and goes on with the token that is there.
  ///
  /// Once a client is registered, before this call or after it, the account's token is taken from the
  /// store, and is refreshed before it expires from then on. ``restore()`` says when that is done and
  /// whether there is a token. If the store cannot be read, ``tokenRefreshDelegate`` gets the error.
  public func keepTokens(in store: any TokenStore) {
    environment.tokenStore = store
    resumesAtRegistration.withLock { $0 = true }
    resumeIfKept()
  }

  /// Takes the token from the store, in an app that keeps its tokens.
  func resumeIfKept() {
    guard resumesAtRegistration.withLock(\.self), module.configuration != nil else { return }
    Task {
      do throws(SQOAuthError) {
        try await restore()
      } catch {
        tell(.refreshFailed(error))
      }
    }
  }
}
