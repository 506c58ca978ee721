extension TokenStore {
  /// Returns the records for which a closure returns `true`, in the order of the ids' UTF-8 bytes.
  public func filter(
    _ isIncluded: @Sendable (AccountRecord) throws -> Bool
  ) async throws -> [AccountRecord] {
    var included: [AccountRecord] = []
    for try await record in records() where try isIncluded(record) { included.append(record) }
    return included
  }

  /// Returns whether the store has no accounts.
  public func isEmpty() async throws -> Bool {
    try await list().isEmpty
  }

  /// Saves several records, one after the other.
  ///
  /// If a save fails, its error is thrown. The records before it stay saved, and those after it are
  /// not saved.
  public func save(_ records: [AccountRecord]) async throws {
    for record in records { try await save(record) }
  }

  /// Erases the records of all accounts.
  ///
  /// A session in memory ends only when it notices that its record is gone, at the latest at its
  /// next refresh; to end it at once, sign the user out.
  public func eraseAll() async throws {
    for id in try await list() { try await erase(id) }
  }
}
