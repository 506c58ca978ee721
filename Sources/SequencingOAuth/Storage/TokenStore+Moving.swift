extension TokenStore {
  /// Moves all accounts to another store, for example from a file into a database or a keyring.
  ///
  /// Each account is moved under its leases in both stores, so no refresh token is sent in the
  /// meantime. It is saved in the other store before it is erased here. If the call fails, or the
  /// process ends, each account is in at least one of the stores, and another call moves the rest.
  /// If both stores have an account from the same sign-in, the newer token is kept.
  ///
  /// The two stores must be different places. For example, an ``EncryptedFileTokenStore`` and a
  /// `DesktopTokenStore` of one service may use the same file; there is nothing to move then, and
  /// the call throws. It notices this by the stores' leases. For stores without leases it may
  /// notice it only after the erasure of an account; then it saves that account again.
  ///
  /// In programs that have this store open, the accounts are signed out. So end these programs
  /// first, and restart them with the other store. If a process that has the other store open uses
  /// an account, the call waits for at most 30 s until it has finished.
  ///
  /// - Returns: The ids of the moved accounts.
  /// - Throws: ``SQOAuthError/Code/invalidConfiguration`` if both stores are the same place;
  ///   ``SQOAuthError/Code/accountInUse`` if another process uses an account;
  ///   ``SQOAuthError/Code/accountChanged`` if the other store has a different sign-in of an
  ///   account (the account then stays in both stores); ``SQOAuthError/Code/cancelled`` if the task
  ///   is cancelled while the call waits; the errors of both stores.
  @discardableResult
  public func moveAccounts(to other: any TokenStore) async throws(SQOAuthError) -> [String] {
    try await moveAccounts(to: other, leaseLimit: .seconds(30))
  }

  /// Moves all accounts, with a limit on the wait for an account that the other store has in use.
  @discardableResult
  package func moveAccounts(
    to other: any TokenStore, leaseLimit: Duration
  ) async throws(SQOAuthError) -> [String] {
    try await AccountMove(from: self, to: other, leaseLimit: leaseLimit).run()
  }
}
