import SQBasics
import SequencingOAuth

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// The accounts of a user or of a session at a provider.
extension AccountTable {
  /// The accounts of a user or a session, and those whose users an older version did not note.
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
    // Under another process's key, the digest is another one too.
    guard try DatabaseFormat.header(connection) == coding.header else { throw keyWasChanged }
    return entries
  }

  /// Notes the users and sessions of all records that have none noted, inside a transaction.
  ///
  /// One that cannot be read stays as it is.
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
