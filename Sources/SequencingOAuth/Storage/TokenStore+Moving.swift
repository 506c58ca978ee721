import SQBasics

extension TokenStore {
  /// Moves all accounts to another store, for example from a file into a database or a keyring.
  ///
  /// Each account is moved under its lease in this store, so no refresh token is sent in the
  /// meantime. It is saved in the other store before it is erased here. If the call fails, or the
  /// process ends, each account is in at least one of the stores, and another call moves the rest.
  ///
  /// In programs that have this store open, the accounts are signed out. So end these programs
  /// first, and restart them with the other store.
  ///
  /// - Returns: The ids of the moved accounts.
  /// - Throws: ``SQOAuthError/Code/accountInUse`` if another process uses an account;
  ///   ``SQOAuthError/Code/accountChanged`` if the other store has a different sign-in of an
  ///   account (the account then stays in both stores); the errors of both stores.
  @discardableResult
  public func moveAccounts(to other: any TokenStore) async throws(SQOAuthError) -> [String] {
    let ids = try await attempt("be listed") { try await $0.list() }
    var moved: [String] = []
    for id in ids where try await move(id, to: other) { moved.append(id) }
    await shared.flush()
    return moved
  }

  /// Moves an account; returns `false` if it is no longer in this store.
  private func move(_ id: String, to other: any TokenStore) async throws(SQOAuthError) -> Bool {
    guard let lease = try await attempt("lock the account", { try await $0.shared.lease(id) })
    else {
      let holder = await shared.leaseHolder(id) ?? "another process"
      throw SQOAuthError(
        .accountInUse,
        "\(holder) uses the account \"\(id.printable)\"; end that process, and move the accounts "
          + "again")
    }
    defer { lease.release() }
    guard let record = try await attempt("be read", { try await $0.load(id) }) else { return false }
    if let theirs = try await other.attempt("be read", { try await $0.load(id) }) {
      // An earlier call may have saved the record in the other store, and ended before it erased
      // the record in this store.
      guard theirs.token.isSame(as: record.token) else {
        throw SQOAuthError(
          .accountChanged,
          "the other store has another sign-in of the account \"\(id.printable)\"; erase the "
            + "account in one of the two stores, and move the accounts again")
      }
    } else {
      try await other.attempt("save the token") { try await $0.save(record) }
    }
    try await attempt("erase the account") { try await $0.erase(id) }
    return true
  }
}
