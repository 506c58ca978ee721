extension StoreKey {
  /// Returns a key from the file that `EncryptedFileTokenStore(service:)` uses.
  ///
  /// Use it for the service's other stores, such as its ``FileRegistrationStore``. The file is
  /// `$XDG_STATE_HOME/SERVICE/tokens.key`, or `~/.local/state/SERVICE/tokens.key`; if it is missing,
  /// a new store creates it. After a restore of the encrypted store, restore the file before another
  /// store creates a new one. It is beside the stores, so it does not protect them from a reader of
  /// the whole folder.
  ///
  /// - Throws: ``SQOAuthError/Code/invalidConfiguration`` for a name that no folder can have;
  ///   ``SQOAuthError/Code/storeFailed`` if there is no state folder.
  public static func file(service: String) throws(SQOAuthError) -> Self {
    .file(EncryptedFileTokenStore.keyPath(in: try StateFolder.path(service: service)))
  }
}
