import OAuthSandbox
import ProgramSupport
import SequencingOAuthSQLite
import TestSupport
import Testing

@testable import LoopbackSupport
@testable import SequencingOAuth
@testable import SequencingOAuthPostgreSQL

/// Back-channel logouts of accounts in a database, of whose records one cannot be read.
@Suite("Logouts in databases", .timeLimit(.minutes(3))) struct LogoutTests {
  private static let ids = (1...7).map { "account \($0)" }

  /// Saves accounts of one user, breaks some of them, and logs the user out.
  ///
  /// Two stores have the database open, as two hosts do.
  private func logOut(
    _ stores: [any TokenStore], breaking broken: [String], by breaking: () async throws -> Void
  ) async throws {
    let party = try await OpenIDFixture(.es256)
    try await party.signIn()
    for id in Self.ids { try await stores[0].save(try await party.record(id)) }
    try await breaking()
    let manager = AccountManager(store: stores[1], environment: party.oauth.environment)
    let ended = try await manager.handleLogoutToken(
      party.logoutToken(), for: #require(party.oauth.module.configuration))
    let whole = Self.ids.filter { !broken.contains($0) }
    #expect(ended == whole)
    #expect(try await stores[0].list() == broken)
    // Each page begins after the one before, also if its last record is broken.
    var seen: [String] = []
    for id in whole { try await stores[0].save(try await party.record(id)) }
    try await stores[1].forEachEntry(pageSize: 2) { seen.append($0.id) }
    #expect(seen == Self.ids)
  }

  @Test(arguments: [nil, SQLiteFolder.key])
  func `a file`(key: StoreKey?) async throws {
    let files = try SQLiteFolder()
    let broken = ["account 2", "account 5"]
    try await logOut([files.store(key), files.store(key)], breaking: broken) {
      try await files.sql(
        "UPDATE accounts SET value=x'00' WHERE id IN ('account 2', 'account 5')")
    }
  }

  @Test func `an encrypted file with another key is refused as a whole`() async throws {
    let files = try SQLiteFolder()
    let stores = [files.store(SQLiteFolder.key), files.store(SQLiteFolder.key)]
    try await stores[0].save(record("a"))
    #expect(try await stores[1].list() == ["a"])
    try await stores[0].changeKey(to: SQLiteFolder.otherKey)
    await failure(.wrongPassphrase) { try await stores[1].forEachEntry { _ in } }
  }

  @Test(.requires(.postgreSQL)) func `a database of many hosts`() async throws {
    try await PostgreSQLServer.running { server in
      let stores = [0, 1].map { _ in DatabaseTests.store(server) }
      try await logOut(stores, breaking: ["account 2"]) {
        try await server.run(
          """
          UPDATE sequencing_oauth.accounts SET value = set_byte(value, 40, 255 - get_byte(value, 40))
          WHERE id = convert_to('account 2', 'UTF8')
          """)
      }
    }
  }

  @Test(.requires(.postgreSQL)) func `a host without the newest key`() async throws {
    try await PostgreSQLServer.running { server in
      let old = DatabaseTests.store(server)
      let new = PostgreSQLTokenStore(
        connection: server.connection, key: .testKey, otherKeys: [.otherTestKey])
      try await logOut([old, old], breaking: ["account 3"]) {
        let record = try #require(try await old.load("account 3"))
        try await new.database.use { table throws(SQOAuthError) in
          _ = try await table.makeNewest(.otherTestKey)
        }
        try await new.save(record)
      }
    }
  }
}
