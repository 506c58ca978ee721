import SQBasics
import SQFoundation
import SequencingOAuth

// The accounts of a user or a session at a provider.
extension AccountTable {
  /// Finds the accounts that may belong to a user or a session.
  ///
  /// The digests depend on the key that encrypts the record. If this process lacks the key of some
  /// records, the result contains one of these records as an unreadable entry.
  func entries(of name: SessionName) async throws(SQOAuthError) -> [AccountEntry] {
    try await noteDigests()
    var (digests, others): ([Data], [Int64]) = ([], [])
    for row in try await run(statements.sessions.keys) {
      guard let key = presentKey(row, 0) else { throw Self.damaged }
      do throws(SQOAuthError) {
        digests.append(try await sealer(key).digest(of: name))
      } catch {
        guard error.isOfAnothersKey else { throw error }
        others.append(key.number)
      }
    }
    let search =
      switch name {
      case .user: statements.sessions.ofUser
      case .session: statements.sessions.ofSession
      }
    var rows = try await run(search, .array(digests))
    if !others.isEmpty { rows += try await run(statements.sessions.sealedByOthers, .array(others)) }
    return try await entries(rows)
  }

  /// Adds the missing digests of users and sessions to records that an older program saved.
  private func noteDigests() async throws(SQOAuthError) {
    var last = Data()
    while true {
      let rows = try await run(
        statements.sessions.unnoted, .bytes(last), .integer(Int64(Self.pageSize)))
      var noted = NotedDigests()
      for row in rows {
        guard let id = row.bytes(0), let key = row.integer(2), let version = row.integer(3) else {
          throw Self.damaged
        }
        last = id
        switch try await result(row) {
        case .success(let record):
          let digests = try await opening(key) { sealer throws(SQOAuthError) in
            try sealer.digests(of: record)
          }
          noted.add(id, version, key, digests)
        // A damaged record gets empty digests, because no host can read it. A record with another
        // host's key is left to that host.
        case .failure(let error):
          if error.code == .storeDamaged { noted.add(id, version, key, .none) }
        }
      }
      if !noted.ids.isEmpty {
        try await run(
          statements.sessions.note, .array(noted.ids), .array(noted.versions), .array(noted.keys),
          .array(noted.users), .array(noted.sessions))
      }
      if rows.count < Self.pageSize { return }
    }
  }

  private static let pageSize = 500
}

/// The digests of several records as one array per column, so that one statement stores them all.
private struct NotedDigests: Redacted {
  var ids: [Data] = []
  var versions: [Int64] = []
  var keys: [Int64] = []
  var users: [Data] = []
  var sessions: [Data] = []

  mutating func add(_ id: Data, _ version: Int64, _ key: Int64, _ digests: SessionDigests) {
    ids.append(id)
    versions.append(version)
    keys.append(key)
    users.append(digests.user)
    sessions.append(digests.session)
  }
}
