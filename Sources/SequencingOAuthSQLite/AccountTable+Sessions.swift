import SQBasics
import SQFoundation
import SequencingOAuth

// The accounts of a user or a session at a provider.
extension AccountTable {
  /// Finds the accounts of a user or a session, and all accounts without digests.
  ///
  /// An older program saves records without digests, so any user may own them.
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
    // If another process changed the key, the digest is different, too.
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
