import SQBasics
import SQFoundation
import SequencingOAuth

// The leases of the accounts, and the marks of refresh tokens that are about to be sent.
extension AccountTable {
  /// Takes an account's lease; returns `false` while another caller has it.
  func takeLease(_ id: String, ticket: Data) async throws(SQOAuthError) -> Bool {
    try await !run(
      statements.leases.take, .id(id), .bytes(ticket), .text(PostgreSQLTokenStore.holder)
    ).isEmpty
  }

  /// Returns the name of the holder of an account's lease.
  ///
  /// If there was a failover, or if the server's clock was set back, the lease's full time starts
  /// again with this call.
  func holder(_ id: String) async throws(SQOAuthError) -> String? {
    try await run(statements.leases.lookAt, .id(id)).first?.text(0)
  }

  /// Gives the holder of an expired lease 10 s more if it may still wait for a new token.
  ///
  /// During this time, the lease is in doubt, and the holder can extend it. If the server's clock
  /// jumped forward, a lease expires while its holder is still waiting.
  func doubtLease(_ id: String) async throws(SQOAuthError) {
    try await run(statements.leases.doubt, .id(id))
  }

  /// Extends the lease of a caller that uses it or has not saved a new token yet.
  ///
  /// If the caller waits for a new token, this method changes nothing unless the lease has expired,
  /// another host doubts it, or there was a failover.
  func keepLease(_ id: String, ticket: Data) async throws(SQOAuthError) {
    try await run(statements.leases.keep, .id(id), .bytes(ticket))
  }

  /// Records that a refresh token is about to be sent; returns `false` if it must not be sent.
  ///
  /// It must not be sent if another holder has taken over the lease or if the record has changed.
  ///
  /// - Throws: `wrongPassphrase` if this process does not have the newest key: it could not save
  ///   the answer with that key.
  func markSent(_ id: String, ticket: Data, version: Int64) async throws(SQOAuthError) -> Bool {
    var key = try keys.newest()
    while true {
      let row = try await run(
        statements.leases.markSent, .id(id), .bytes(ticket), .integer(version),
        .integer(key.number), .bytes(key.sealer.header)
      ).first
      guard let row, !row.boolean(0), let newest = presentKey(row, 1),
        newest != (key.number, key.sealer.header)
      else { return row?.boolean(0) ?? false }
      key = try await openNewest(newest)
    }
  }

  func endLease(_ id: String, ticket: Data) async throws(SQOAuthError) {
    try await run(statements.leases.end, .id(id), .bytes(ticket))
  }
}
