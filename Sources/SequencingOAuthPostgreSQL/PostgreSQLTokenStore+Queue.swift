import SQBasics
public import SequencingOAuth

// The accounts that are due for renewal. The `AccountKeeper`s on all hosts share these accounts.
extension PostgreSQLTokenStore: AccountQueue {
  /// Takes due accounts that no other keeper has taken.
  public func take(
    atMost count: Int, for time: Duration
  ) async throws(SQOAuthError) -> DueAccounts {
    try await take(atMost: count, for: time, busy: [])
  }

  /// Takes due accounts that no other keeper has taken, and prefers servers that are not busy.
  ///
  /// A server gets at most half of `count`, so that the accounts of other servers are taken too.
  public func take(
    atMost count: Int, for time: Duration, busy: [ServerName]
  ) async throws(SQOAuthError) -> DueAccounts {
    try await database.use { table throws(SQOAuthError) in
      let marks = lostClaims.withLock { $0.marks(at: .now) }
      do throws(SQOAuthError) {
        let due = try await table.takeDue(atMost: count, for: time, busy: busy, by: marks)
        lostClaims.withLock { $0.answered(at: .now) }
        return due
      } catch {
        // The database may have claimed the accounts, or may still do so.
        lostClaims.withLock { $0.lose(marks.own, for: time, at: .now) }
        throw error
      }
    }
  }

  /// Makes a taken account due again after a time.
  public func postpone(
    _ account: DueAccounts.Account, by time: Duration
  ) async throws(SQOAuthError) {
    try await database.use { table throws(SQOAuthError) in
      try await table.postpone(account, by: time)
    }
  }

  /// Does nothing, because each save also stores when the account is due next.
  public func finish(_ account: DueAccounts.Account, with record: AccountRecord?) {}

  /// Pauses a server for all hosts, and returns the time until the pause ends.
  public func pause(
    _ server: ServerName, askedFor time: Duration?
  ) async throws(SQOAuthError) -> Duration {
    try await database.use { table throws(SQOAuthError) in try await table.pause(server, for: time)
    }
  }

  /// Records that a paused server works again.
  public func resume(_ server: ServerName) async throws(SQOAuthError) {
    try await database.use { table throws(SQOAuthError) in try await table.resume(server) }
  }

  /// Gives back the right to send a paused server the first request, because no request was sent.
  public func giveBack(_ server: ServerName) async throws(SQOAuthError) {
    try await database.use { table throws(SQOAuthError) in try await table.giveBack(server) }
  }
}
