import CSQSQLite
import SQBasics
import SQFiles
import SequencingOAuth

/// The database of a token store, opened by the first call and opened again after a failure.
///
/// Its calls block their thread, and all come from one queue.
final class AccountDatabase: Sendable {
  private struct State {
    var key: StoreKey?
    var table: AccountTable?
  }

  private let path: String
  /// The longest time from a call to the end of its wait for another process that writes.
  private let busyTimeout: Duration
  private let state: Locked<State>

  init(path: String, key: StoreKey?, busyTimeout: Duration) {
    self.path = path
    self.busyTimeout = busyTimeout
    state = Locked(State(key: key))
  }

  /// Runs a body with the table of accounts.
  func use<Value: Sendable>(
    _ body: @Sendable (AccountTable) throws(SQOAuthError) -> Value
  ) throws(SQOAuthError) -> Value {
    try state.withLock { state throws(SQOAuthError) in try use(&state, body) }
  }

  /// Encrypts the records with another key.
  ///
  /// If this store's own key no longer opens the database, but the other key does, an earlier call
  /// has made the change. This method then only removes what the old key can still read, because
  /// the earlier call's process may have been killed before it did so. Afterwards, the database is
  /// opened with the other key.
  func changeKey(
    to key: StoreKey?, leasing lease: @Sendable (String) throws(SQOAuthError) -> AccountLease?
  ) throws(SQOAuthError) {
    try state.withLock { state throws(SQOAuthError) in
      do throws(SQOAuthError) {
        try use(&state) { table throws(SQOAuthError) in
          try table.changeKey(to: key, leasing: lease)
        }
      } catch {
        guard error.code == .wrongPassphrase,
          let table = try? AccountTable(path: path, key: key, waitingUntil: waitEnd)
        else { throw error }
        try? table.removeTracesOfOldKey()
        state.table = table
      }
      state.key = key
    }
  }

  /// Checks that a missing database can be created, by creating and removing a test database.
  func checkMaking() throws(SQOAuthError) {
    do throws(SQOAuthError) {
      try state.withLock(\.key)?.check()
      let lock = try FileFailure.reported("its lock file cannot be used") {
        () throws(FileFailure) in
        try PrivateFile(path: path).lock()
      }
      defer { lock.remove() }
      let other = path + ".sq.try"
      let files = DatabaseFile.files(of: other).map { PrivateFile(path: $0) }
      // A process that was killed during this check may have left these files.
      for file in files { try? file.remove() }
      defer { for file in files { try? file.remove() } }
      try AccountTable(path: other, key: nil, waitingUntil: waitEnd).checkWriting()
    } catch {
      throw naming(error)
    }
  }

  /// Closes the database; a later call would open it again.
  func close() {
    state.withLock { $0.table = nil }
  }

  private func use<Value: Sendable>(
    _ state: inout State, _ body: @Sendable (AccountTable) throws(SQOAuthError) -> Value
  ) throws(SQOAuthError) -> Value {
    do throws(SQOAuthError) {
      return try body(try open(&state))
    } catch {
      // The next call opens and checks the database again, unless it was only locked by another
      // process.
      if (error.cause as? SQLiteError)?.kind != SQLITE_BUSY { state.table = nil }
      throw naming(error)
    }
  }

  /// When the current call stops waiting for another process that writes.
  private var waitEnd: ContinuousClock.Instant { BlockingQueue.callStart + busyTimeout }

  private func naming(_ error: SQOAuthError) -> SQOAuthError {
    error.naming("the token database \(path.printable)")
  }

  private func open(_ state: inout State) throws(SQOAuthError) -> AccountTable {
    // If the file was removed or replaced, nothing must be saved through this connection.
    if let table = state.table, table.hasMoved { state.table = nil }
    if let table = state.table {
      table.connection.waitForWriters(until: waitEnd)
      return table
    }
    let table = try AccountTable(path: path, key: state.key, waitingUntil: waitEnd)
    state.table = table
    return table
  }
}
