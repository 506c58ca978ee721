public import SQFoundation
public import SequencingOAuth

// One-time values, shared by all hosts.
extension PostgreSQLTokenStore: OneTimeValues {
  /// Records the use of a value; returns `false` if this or another host used it before.
  ///
  /// The store keeps the value until at least one hour after `end`, by the database's clock.
  public func isFirstUse(
    of value: String, until end: Date, at now: Date
  ) async throws(SQOAuthError) -> Bool {
    let ticket = Self.ticket()
    return try await database.use(.long) { table throws(SQOAuthError) in
      try await table.use(value, ticket: ticket, for: end.timeIntervalSince(now))
    }
  }

  /// Returns whether this or another host has used a value.
  public func wasUsed(_ value: String) async throws(SQOAuthError) -> Bool? {
    try await database.use { table throws(SQOAuthError) in try await table.wasUsed(value) }
  }
}
