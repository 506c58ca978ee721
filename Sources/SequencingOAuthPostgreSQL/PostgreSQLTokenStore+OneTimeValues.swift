public import SequencingOAuth

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

// Values that count once, for all hosts.
extension PostgreSQLTokenStore: OneTimeValues {
  /// Notes a value; returns `false` if this or another host noted it before.
  ///
  /// It is forgotten some time after an hour has passed since `end`, by the database's clock.
  public func isFirstUse(
    of value: String, until end: Date, at now: Date
  ) async throws(SQOAuthError) -> Bool {
    // By its ticket, a call that is repeated after a lost answer recognizes its own note.
    let ticket = Data(UUID().uuidString.utf8)
    return try await database.use(.long) { table throws(SQOAuthError) in
      try await table.use(value, ticket: ticket, for: end.timeIntervalSince(now))
    }
  }

  /// Whether this or another host noted a value.
  public func wasUsed(_ value: String) async throws(SQOAuthError) -> Bool? {
    try await database.use { table throws(SQOAuthError) in try await table.wasUsed(value) }
  }
}
