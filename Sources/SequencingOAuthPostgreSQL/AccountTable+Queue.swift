import Basics
import SequencingOAuth

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// The accounts that are due, and the servers that keepers leave alone.
extension AccountTable {
  /// Takes accounts that are due, so that they are due again after a time.
  func takeDue(
    atMost count: Int, for time: Duration
  ) throws(SQOAuthError) -> [DueAccounts.Account] {
    let rows = try run(
      statements.queue.take, .integer(Int64(count)), .seconds(time / .seconds(1)))
    var accounts: [DueAccounts.Account] = []
    for row in rows {
      // An id that is not text is an edited row, which stays as it is.
      guard let id = try? id(row) else { continue }
      let record = Result { () throws(SQOAuthError) in try decode(row.bytes(1), id: id) }
      accounts.append(
        DueAccounts.Account(
          id: id, record: record, version: row.integer(3) ?? 0,
          wasPaused: row.boolean(2)))
    }
    return accounts
  }

  /// The time until an account of a server that is not paused is due.
  func nextDue() throws(SQOAuthError) -> Duration? {
    try run(statements.queue.next).first?.number(0).map { .seconds(max(0, $0)) }
  }

  /// Makes an account due after a time, unless it was saved since it was taken.
  func postpone(_ account: DueAccounts.Account, by time: Duration) throws(SQOAuthError) {
    try run(
      statements.queue.postpone, .bytes(Data(account.id.utf8)), .seconds(time / .seconds(1)),
      .integer(account.version))
  }

  /// Pauses a server and returns for how long it is paused now.
  func pause(_ server: ServerName, for time: Duration?) throws(SQOAuthError) -> Duration {
    let asked = time.map { min($0 / .seconds(1), Self.longestPause) }
    let rows = try run(statements.queue.pause, .bytes(server.bytes), .seconds(asked))
    return .seconds(rows.first?.number(0) ?? 1)
  }

  func resume(_ server: ServerName) throws(SQOAuthError) {
    try run(statements.queue.resume, .bytes(server.bytes))
  }

  /// The longest time that a server may ask for, in seconds.
  private static let longestPause = 3600.0
}
