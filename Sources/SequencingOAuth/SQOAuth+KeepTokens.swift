import SQBasics

/// Methods that keep the user signed in after a restart of the program.
extension SQOAuth {
  /// Saves tokens in an encrypted file, and continues with the token that is already in the file.
  ///
  /// ```swift
  /// try SQOAuth.shared.keepTokens(as: "com.example.app")
  /// ```
  ///
  /// The token is read soon after this call and the registration of a client, whichever is later.
  /// ``AccountOperations/restore(_:)`` calls back when that is done, and says whether there is a
  /// token.
  ///
  /// The file is `$XDG_STATE_HOME/SERVICE/tokens.sealed`, or
  /// `~/.local/state/SERVICE/tokens.sealed`, with its key beside it; see
  /// ``EncryptedFileTokenStore``. `service` keeps the files of different apps apart. Call this
  /// once, at the start of the program.
  ///
  /// - Throws: ``SQOAuthError/Code/invalidConfiguration`` if `service` is empty, starts with a dot,
  ///   or contains a slash or a NUL; ``SQOAuthError/Code/storeFailed`` if there is no folder for
  ///   the file.
  public func keepTokens(as service: String) throws(SQOAuthError) {
    keepTokens(in: try EncryptedFileTokenStore(service: service))
  }

  /// Saves tokens in a store, and continues with the token that is already in the store.
  ///
  /// When a client is registered, before or after this call, the SDK reads the account's token from
  /// the store. From then on it refreshes the token before it expires.
  /// ``AccountOperations/restore()`` returns when the token is read, and says whether there is one.
  /// If the store cannot be read, ``tokenRefreshDelegate`` gets the error.
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
        module.session.decide { $0.report(.refreshFailed(error)) }
        module.session.changed()
      }
    }
  }
}
