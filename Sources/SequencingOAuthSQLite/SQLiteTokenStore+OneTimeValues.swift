public import SequencingOAuth

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

// Values that count once, for all processes that use the database.
extension SQLiteTokenStore: OneTimeValues {
  /// Notes a value; returns `false` if this or another process noted it before.
  ///
  /// A noted value is safe on disk when the call returns. It is forgotten an hour after `end`.
  public func isFirstUse(
    of value: String, until end: Date, at now: Date
  ) async throws(SQOAuthError) -> Bool {
    let (end, now) = (Self.seconds(end), Self.seconds(now))
    return try await run { table throws(SQOAuthError) in
      try table.use(value, until: end, now: now)
    }
  }

  /// Whether this or another process noted a value.
  public func wasUsed(_ value: String) async throws(SQOAuthError) -> Bool? {
    try await run { table throws(SQOAuthError) in try table.wasUsed(value) }
  }

  private static func seconds(_ date: Date) -> Int64 {
    Int64(exactly: date.timeIntervalSince1970.rounded(.up)) ?? .max
  }
}
