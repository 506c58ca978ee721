extension TokenStore {
  /// The records that fit, in the order of their names.
  public func filter(
    _ isIncluded: @Sendable (AccountRecord) throws -> Bool
  ) async throws -> [AccountRecord] {
    try await all().filter(isIncluded)
  }

  /// Whether there is no account.
  public func isEmpty() async throws -> Bool {
    try await list().isEmpty
  }

  /// Saves several records, one after the other; what fails ends it, and those before it stay.
  public func save(_ records: [AccountRecord]) async throws {
    for record in records { try await save(record) }
  }

  /// Erases every account.
  ///
  /// A session that is in memory keeps its token: sign out there.
  public func reset() async throws {
    for id in try await list() { try await erase(id) }
  }
}
