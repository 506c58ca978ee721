extension TokenStore {
  /// Returns the records for which a closure returns `true`, in the order of the ids' UTF-8 bytes.
  ///
  /// The call throws if a single record cannot be read; ``entries(pageSize:)`` has the other
  /// accounts.
  public func filter(
    _ isIncluded: @Sendable (AccountRecord) throws(SQOAuthError) -> Bool
  ) async throws(SQOAuthError) -> [AccountRecord] {
    var included: [AccountRecord] = []
    try await forEachEntry { entry throws(SQOAuthError) in
      let record = try entry.record.get()
      if try isIncluded(record) { included.append(record) }
    }
    return included
  }

  /// Returns whether the store has no accounts.
  public func isEmpty() async throws(SQOAuthError) -> Bool {
    try await attempt("be listed") { try await $0.list() }.isEmpty
  }

  /// Saves several records, one after the other.
  ///
  /// If a save fails, its error is thrown. The records before it stay saved, and those after it are
  /// not saved.
  public func save(_ records: [AccountRecord]) async throws(SQOAuthError) {
    for record in records {
      try await attempt("save the account") { try await $0.save(record) }
    }
  }

  /// Erases the records of all accounts.
  ///
  /// A session in memory ends only when it notices that its record is gone, at the latest at its
  /// next refresh; to end it at once, sign the user out.
  public func eraseAll() async throws(SQOAuthError) {
    for id in try await attempt("be listed", { try await $0.list() }) {
      try await attempt("erase the account") { try await $0.erase(id) }
    }
  }
}
