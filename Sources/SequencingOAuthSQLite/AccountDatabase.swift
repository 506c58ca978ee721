import CSQLite
import LoopbackHTTP
import SequencingOAuth

/// A database that is opened by the first call, and again where that one did not last.
///
/// Its calls block, and come from one queue.
final class AccountDatabase: Sendable {
  private let path: String
  private let busyTimeout: Duration
  private let table = Locked<AccountTable?>(nil)

  init(path: String, busyTimeout: Duration) {
    self.path = path
    self.busyTimeout = busyTimeout
  }

  /// Works on the accounts.
  func use<Value: Sendable>(
    _ body: (AccountTable) throws(SQOAuthError) -> Value
  ) throws(SQOAuthError) -> Value {
    try table.withLock { table throws(SQOAuthError) in
      // Somebody removed the file, or put another in its place: what is saved must not go there.
      if let open = table, open.hasMoved { table = nil }
      let open: AccountTable
      if let table {
        open = table
      } else {
        open = try AccountTable(path: path, busyTimeout: busyTimeout)
        table = open
      }
      do throws(SQOAuthError) {
        return try body(open)
      } catch {
        // The next call looks at everything anew, unless it was only another process at work.
        if (error.cause as? SQLiteError)?.kind != SQLITE_BUSY { table = nil }
        throw error
      }
    }
  }

  /// Closes the database; the next call would open it again.
  func close() {
    table.withLock { $0 = nil }
  }
}
