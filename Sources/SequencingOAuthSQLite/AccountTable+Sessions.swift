import SQBasics
import SQFoundation
import SequencingOAuth

// The accounts of a user or a session at a provider.
extension AccountTable {
  /// Finds the accounts of a user or a session, and all accounts without digests.
  ///
  /// Programs with an older version of the SDK save records without digests. Such a record may
  /// belong to any user.
  func entries(of name: SessionName) throws(SQOAuthError) -> [AccountEntry] {
    let column =
      switch name {
      case .user: "user"
      case .session: "session"
      }
    let entries = try connection.run(
      "SELECT id, value FROM accounts WHERE \(column) = ?1 OR user IS NULL",
      .blob(try coding.digest(of: name))
    ) { row throws(SQOAuthError) in
      AccountEntry(
        key: row.blob(0), record: Result { () throws(SQOAuthError) in try record(row) })
    }
    // After another process has changed the key, the stored digests no longer match this digest.
    guard try DatabaseFormat.header(connection) == coding.header else { throw keyWasChanged }
    return entries
  }

  /// Adds the missing digests of users and sessions to records; call it inside a transaction.
  ///
  /// A record that cannot be read stays unchanged.
  func noteDigests() throws(SQOAuthError) {
    let ids = try connection.run("SELECT id FROM accounts WHERE user IS NULL") { $0.blob(0) }
    for id in ids {
      guard let text = String(validating: id, as: UTF8.self),
        let record = try? load(text), let digests = try? coding.digests(of: record)
      else { continue }
      try connection.run(
        "UPDATE accounts SET user = ?2, session = ?3 WHERE id = ?1", .text(text),
        .blob(digests.user), .blob(digests.session)
      ) { _ in }
    }
  }
}
