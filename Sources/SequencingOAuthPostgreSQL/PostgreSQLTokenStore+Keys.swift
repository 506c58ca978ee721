import SQBasics
import SQFoundation
public import SequencingOAuth

extension PostgreSQLTokenStore {
  /// Encrypts all records and registrations with another key, while other hosts use the store.
  ///
  /// Before this call, restart every host with the new key in `otherKeys`. After it, restart every
  /// host with the new key as `key`. In between, all hosts read records of both keys and save with
  /// the new key. A host without the new key refreshes no more tokens. If it has just received a
  /// token, it saves the token with its own key.
  ///
  /// If a call was interrupted, or if a host without the new key saved a record meanwhile, call
  /// this method again to finish. The database's role needs the rights `INSERT` and `UPDATE` on the
  /// table `keys`. The time grows with the number of accounts.
  ///
  /// - Throws: `SQOAuthError.Code.storeDamaged` at the end if some records could not be opened;
  ///   they stay unchanged. `SQOAuthError.Code.storeTooNew` if a later version of the SDK wrote one
  ///   of them; repeat the call with that version.
  public func changeKey(to key: StoreKey) async throws(SQOAuthError) {
    // If another program has already changed the key, only the new key opens the newest records.
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
        "the token database: its key was changed, but the SDK could not decrypt all records and "
          + "registrations and left \(damaged) of them as before: restore them from a backup, or erase "
          + "them")
    }
  }

  /// The number of records to encrypt again in one step.
  private static let resealed = 500

  /// Returns whether a database already has the key of a store; changes nothing.
  ///
  /// If there is a key, a program asks its user for the existing passphrase, otherwise for a new
  /// passphrase.
  package static func hasKey(connection: String) async throws(SQOAuthError) -> Bool {
    let settings = try ConnectionSettings(
      connection, environment: ProcessInfo.processInfo.environment)
    let schema = try DatabaseSchema("sequencing_oauth")
    return try await AccountDatabase.onThread { () throws(SQOAuthError) in
      try schema.hasKey(try AccountDatabase.connect(settings), until: .now + .seconds(30))
    }
  }
}
