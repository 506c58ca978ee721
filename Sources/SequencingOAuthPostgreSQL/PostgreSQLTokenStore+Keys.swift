import SQBasics
public import SequencingOAuth

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension PostgreSQLTokenStore {
  /// Seals all records and registrations with another key, while other hosts use the store.
  ///
  /// Before the change, start every host again with the new key in `otherKeys`; after it, with the
  /// new key as `key`. In between all hosts read records of both keys, and save with the new one. A
  /// host without the new key refreshes no token any more, and saves what it has with its own key.
  ///
  /// A change that was interrupted is finished by another call, as is one during which a host
  /// without the new key saved. The database's role needs the rights `INSERT` and `UPDATE` on the
  /// table `keys`. The time grows with the number of accounts.
  ///
  /// - Throws: `SQOAuthError.Code.storeDamaged` at the end if some records could not be opened,
  ///   which are left as they are.
  public func changeKey(to key: StoreKey) async throws(SQOAuthError) {
    // The change may have been made already, so that this store's own key is an old one.
    database.give(key)
    let number = try await database.use(.long) { table throws(SQOAuthError) in
      try await table.makeNewest(key)
    }
    var damaged = try await database.use(.long) { table throws(SQOAuthError) in
      try await table.resealRegistrations(to: number)
    }
    var start: Data? = Data()
    while let from = start {
      if Task.isCancelled { throw SQOAuthError(.cancelled, "the change of the key was cancelled") }
      let resealed = try await database.use(.long) { table throws(SQOAuthError) in
        try await table.reseal(from: from, to: number, atMost: Self.resealed)
      }
      damaged += resealed.damaged
      start = resealed.next
    }
    guard damaged == 0 else {
      throw SQOAuthError(
        .storeDamaged,
        "the token database: \(damaged) of its records cannot be opened; they are left as they are")
    }
  }

  /// How many records are sealed again at a time.
  private static let resealed = 500
}
