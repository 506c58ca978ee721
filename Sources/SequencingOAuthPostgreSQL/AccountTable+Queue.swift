import SQBasics
import SQFoundation
import SequencingOAuth

// The accounts that are due for renewal, and the servers that `AccountKeeper`s pause.
extension AccountTable {
  /// Claims due accounts: no other call gets them before the given time is over.
  ///
  /// If no answer arrived for an earlier claim of this store, this method returns the accounts of
  /// that claim. The servers in `busy` come last, the busiest at the end.
  ///
  /// - Throws: `wrongPassphrase` if this process does not have the newest key; then it claims
  ///   nothing.
  func takeDue(
    atMost count: Int, for time: Duration, busy: [ServerName], by marks: ClaimMarks
  ) async throws(SQOAuthError) -> DueAccounts {
    var key = try keys.newest()
    while true {
      let rows = try await run(
        statements.queue.take, .integer(Int64(count)), .seconds(time / .seconds(1)),
        .integer(key.number), .integer(marks.own), .array(marks.lost), .array(busy.map(\.bytes)),
        .bytes(key.sealer.header))
      guard rows.isEmpty else { return DueAccounts(try await accounts(rows)) }
      let row = try await run(statements.queue.next).first
      guard let newest = presentKey(row, 1), newest != (key.number, key.sealer.header) else {
        return DueAccounts([], next: row?.number(0).map { .bounded(seconds: $0) })
      }
      key = try await openNewest(newest)
    }
  }

  private func accounts(_ rows: [SQLRow]) async throws(SQOAuthError) -> [DueAccounts.Account] {
    var accounts: [DueAccounts.Account] = []
    for row in rows {
      // If an ID is not text, another program edited the row. The row stays unchanged.
      let id = try? id(row)
      let record = try await result(row)
      var wasPaused = row.boolean(3)
      if wasPaused, id == nil || (try? record.get()) == nil {
        // No request can be sent for this account, so the server's first request after the pause is
        // left to another account.
        try await run(statements.queue.giveBack, .bytes(row.bytes(5) ?? Data()))
        wasPaused = false
      }
      guard let id else { continue }
      accounts.append(
        DueAccounts.Account(
          id: id, record: record, version: row.integer(4) ?? 0, wasPaused: wasPaused,
          date: row.number(6).map { Date(timeIntervalSince1970: $0) }))
    }
    return accounts
  }

  /// Makes a claimed account due after a time, unless it was saved since it was claimed.
  func postpone(_ account: DueAccounts.Account, by time: Duration) async throws(SQOAuthError) {
    try await run(
      statements.queue.postpone, .id(account.id), .seconds(time / .seconds(1)),
      .integer(account.version))
  }

  /// Pauses a server, and returns the time until the pause ends.
  func pause(_ server: ServerName, for time: Duration?) async throws(SQOAuthError) -> Duration {
    let asked = time.map { min($0 / .seconds(1), BackOff.longest) }
    let rows = try await run(statements.queue.pause, .bytes(server.bytes), .seconds(asked))
    return .bounded(seconds: rows.first?.number(0) ?? 1)
  }

  func resume(_ server: ServerName) async throws(SQOAuthError) {
    try await run(statements.queue.resume, .bytes(server.bytes))
  }

  func giveBack(_ server: ServerName) async throws(SQOAuthError) {
    try await run(statements.queue.giveBack, .bytes(server.bytes))
  }
}
