import SQBasics

/// Keeps tokens when the program ends.
extension SQOAuth {
  /// Keeps tokens in an encrypted file of the user, and continues with the token that is in it.
  ///
  /// ```swift
  /// try SQOAuth.shared.keepTokens(as: "com.example.app")
  /// ```
  ///
  /// The token is read soon after this call; ``restore(_:)`` tells when, and whether there is one.
  ///
  /// The file is `$XDG_STATE_HOME/SERVICE/tokens.sealed`, or
  /// `~/.local/state/SERVICE/tokens.sealed`, with its key beside it; see
  /// ``EncryptedFileTokenStore``. `service` keeps the files of different apps apart. Call this
  /// once, at the start of the program.
  ///
  /// - Throws: ``SQOAuthError/Code/invalidConfiguration`` for a name that is empty, starts with a
  ///   dot or contains a slash, or ``SQOAuthError/Code/storeFailed`` if there is no folder for the
  ///   file.
  public func keepTokens(as service: String) throws(SQOAuthError) {
    keepTokens(in: try EncryptedFileTokenStore(service: service))
  }

  /// Keeps tokens in a store, and continues with the token that is in it.
  ///
  /// Once a client is registered, before or after this call, the account's token is read from the
  /// store and refreshed before it expires from then on. ``restore()`` tells when that is done and
  /// whether there is a token. If the store cannot be read, ``tokenRefreshDelegate`` gets the
  /// error.
  public func keepTokens(in store: any TokenStore) {
    environment.tokenStore = store
    resumesAtRegistration.withLock { $0 = true }
    resumeIfKept()
  }

  /// Reads the token from the store if the app keeps its tokens and has registered a client.
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
