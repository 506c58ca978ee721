import SQBasics
import SequencingOAuth

// The reservation for an account's next record, and its write-ahead copy.
extension AccountTable {
  /// Returns whether this record is safe in its write-ahead copy, although saving it failed.
  func hasWriteAheadCopy(_ record: AccountRecord) -> Bool {
    guard let stored = try? stored(record.id) else { return false }
    return writeAheadCopies.hasSynced(record, after: stored, coding.sealer)
  }

  /// Creates a file for the write-ahead copy of the next record.
  ///
  /// Without a record to replace, it only checks that the file can be created. In both cases, it
  /// first takes and releases the database's write lock: while another program holds that lock, the
  /// server's answer could not be saved.
  func reserve(
    _ id: String, replacing record: AccountRecord?, syncingOn queue: BlockingQueue
  ) throws(SQOAuthError) -> AccountReservation {
    var newest: AccountRecord?
    try connection.transaction { () throws(SQOAuthError) in
      guard record != nil, let stored = try stored(id) else { return try write() }
      newest = stored
      // The file is about to be replaced, so a write-ahead copy in it moves to the database.
      guard let copy = try writeAheadCopies.copy(after: stored, coding.sealer) else { return }
      try put(copy)
      newest = copy
    }
    guard let newest else {
      try writeAheadCopies.check(replacingStore: false)
      return AccountReservation()
    }
    let reservation = try writeAheadCopies.reserve(
      after: newest, coding.sealer, syncingOn: queue)
    do throws(SQOAuthError) {
      try checkKeyAlone()
    } catch {
      reservation.release()
      throw error
    }
    return reservation
  }

  /// Throws if another process has changed the key, also if it is about to.
  ///
  /// A change of the key that has not seen the account's file does not wait for the refresh. Such a
  /// change has ended when this transaction begins, and the server's answer could not be saved.
  private func checkKeyAlone() throws(SQOAuthError) {
    try connection.transaction { () throws(SQOAuthError) in
      guard try DatabaseFormat.header(connection) == coding.header else { throw keyWasChanged }
    }
  }

  /// Checks that a record can be written.
  func checkWriting() throws(SQOAuthError) {
    try connection.transaction { () throws(SQOAuthError) in try write() }
  }

  /// Writes as many bytes as a record needs, and removes them in the same transaction.
  private func write() throws(SQOAuthError) {
    try connection.run(
      "INSERT INTO meta (name, value) VALUES ('check', zeroblob(\(WriteAheadCopies.minimumSize)))"
    ) { _ in }
    try connection.run("DELETE FROM meta WHERE name = 'check'") { _ in }
  }
}
