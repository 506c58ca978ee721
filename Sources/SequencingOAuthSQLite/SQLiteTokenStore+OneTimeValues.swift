public import SQFoundation
public import SequencingOAuth

// One-time values, shared by all processes that use the database.
extension SQLiteTokenStore: OneTimeValues {
  /// Records the use of a value; returns `false` if this or another process used it before.
  ///
  /// The value is safe on disk when the call returns. The store keeps it until at least one hour
  /// after `end`.
  public func isFirstUse(
    of value: String, until end: Date, at now: Date
  ) async throws(SQOAuthError) -> Bool {
    let (end, now) = (Self.seconds(end), Self.seconds(now))
    return try await run { table throws(SQOAuthError) in
      try table.use(value, until: end, now: now)
    }
  }

  /// Returns whether this or another process has used a value.
  public func wasUsed(_ value: String) async throws(SQOAuthError) -> Bool? {
    try await run { table throws(SQOAuthError) in try table.wasUsed(value) }
  }

  private static func seconds(_ date: Date) -> Int64 {
    Int64(exactly: date.timeIntervalSince1970.rounded(.up)) ?? .max
  }
}
