import SQBasics
package import SequencingOAuth

// The accounts that are due for renewal. The `AccountKeeper`s on all hosts share the work.
extension PostgreSQLTokenStore: AccountQueue {
  package func take(
    atMost count: Int, for time: Duration
  ) async throws(SQOAuthError) -> DueAccounts {
    try await database.use { table throws(SQOAuthError) in
      let marks = lostClaims.withLock { $0.marks(at: .now) }
      do throws(SQOAuthError) {
        let due = try await table.takeDue(atMost: count, for: time, by: marks)
        lostClaims.withLock { $0.answered(at: .now) }
        return due
      } catch {
        // The database may have claimed the accounts, or may still do so.
        lostClaims.withLock { $0.lose(marks.own, for: time, at: .now) }
        throw error
      }
    }
  }

  package func postpone(
    _ account: DueAccounts.Account, by time: Duration
  ) async throws(SQOAuthError) {
    try await database.use { table throws(SQOAuthError) in
      try await table.postpone(account, by: time)
    }
  }

  /// Does nothing, because each save also stores when the account is due next.
  package func finish(_ account: DueAccounts.Account, with record: AccountRecord?) {}

  package func pause(
    _ server: ServerName, askedFor time: Duration?
  ) async throws(SQOAuthError) -> Duration {
    try await database.use { table throws(SQOAuthError) in try await table.pause(server, for: time)
    }
  }

  package func resume(_ server: ServerName) async throws(SQOAuthError) {
    try await database.use { table throws(SQOAuthError) in try await table.resume(server) }
  }

  package func giveBack(_ server: ServerName) async throws(SQOAuthError) {
    try await database.use { table throws(SQOAuthError) in try await table.giveBack(server) }
  }
}
