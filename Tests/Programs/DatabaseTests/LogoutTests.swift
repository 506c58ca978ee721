import OAuthSandbox
import ProgramSupport
import SequencingOAuthSQLite
import TestSupport
import Testing

@testable import LoopbackSupport
@testable import SQBasics
@testable import SequencingOAuth
@testable import SequencingOAuthBackend
@testable import SequencingOAuthPostgreSQL

/// Back-channel logouts in databases, and the search for accounts by user and by session.
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
    // Each page begins after the previous page, even if the previous page's last record is broken.
    var seen: [String] = []
    // A lease that is not given back yet keeps a record of the ended sign-in out.
    await (stores[0] as? any SharedTokenStore)?.flush()
    for id in whole { try await stores[0].save(try await party.record(id)) }
    try await stores[1].forEachEntry(pageSize: 2) { seen.append($0.id) }
    #expect(seen == Self.ids)
  }

  @Test(arguments: [nil, SQLiteFolder.key])
  func `a back-channel logout ends all readable accounts in a database file`(key: StoreKey?)
    async throws
  {
    let files = try SQLiteFolder()
    let broken = ["account 2", "account 5"]
    try await logOut([files.store(key), files.store(key)], breaking: broken) {
      try await files.sql(
        "UPDATE accounts SET value=x'00' WHERE id IN ('account 2', 'account 5')")
    }
  }

  /// The accounts that a store finds.
  private struct Found: Equatable {
    let user: [String]
    let session: [String]
    /// The result for a session that no account has.
    let none: [String]
  }

  private static let right = Found(user: ["own"], session: ["own"], none: [])

  /// Saves accounts of two users with one store, and searches with another.
  ///
  /// The user's account has been refreshed, by an ID token with or without the session.
  private func found(
    _ stores: [any SessionIndex], sessionIDs: SandboxOpenIDOptions.SessionIDs = .always,
    changing change: () async throws -> Void = {}
  ) async throws -> Found {
    let party = try await OpenIDFixture(.es256) { $0.openID.sessionIDs = sessionIDs }
    try await party.signIn()
    try await party.oauth.refresh()
    let own = try await party.record("own")
    try await stores[0].save(own)
    for id in ["other 1", "other 2"] { try await stores[0].save(record(id)) }
    try await change()
    let idToken = try #require(own.token.idToken)
    let sessionID = try #require(own.providerSessionID)
    func ids(_ name: SessionName) async throws -> [String] {
      try await stores[1].entries(of: name).map(\.id).sorted()
    }
    return Found(
      user: try await ids(.user(issuer: idToken.issuer, subject: idToken.subject)),
      session: try await ids(.session(issuer: idToken.issuer, id: sessionID)),
      none: try await ids(.session(issuer: idToken.issuer, id: "another")))
  }

  @Test(
    arguments: [nil, SQLiteFolder.key],
    [.always, .exceptOnRefresh] as [SandboxOpenIDOptions.SessionIDs])
  func `a store in a database file finds accounts by user and by session`(
    key: StoreKey?, sessionIDs: SandboxOpenIDOptions.SessionIDs
  ) async throws {
    let files = try SQLiteFolder()
    let stores = [files.store(key), files.store(key)]
    #expect(try await found(stores, sessionIDs: sessionIDs) == Self.right)
  }

  @Test(arguments: [nil, SQLiteFolder.key])
  func `a database file of the first version is upgraded`(key: StoreKey?) async throws {
    let files = try SQLiteFolder()
    let found = try await found([files.store(key), files.store(key)]) {
      _ = try await files.sql(
        """
        DROP INDEX accounts_user; DROP INDEX accounts_session;
        ALTER TABLE accounts DROP COLUMN user; ALTER TABLE accounts DROP COLUMN session;
        PRAGMA user_version=1
        """)
    }
    #expect(found == Self.right)
    #expect(try await files.sql("PRAGMA user_version").contains("2"))
    #expect(try await files.sql("SELECT count(*) FROM accounts WHERE user IS NULL").contains("0"))
    // A new store can read the upgraded file.
    #expect(try await files.store(key).list() == ["other 1", "other 2", "own"])
  }

  @Test func `accounts that an older version added to a file are found by user and by session`()
    async throws
  {
    let files = try SQLiteFolder()
    let found = try await found([files.store(), files.store()]) {
      _ = try await files.sql("UPDATE accounts SET user = NULL, session = NULL WHERE id = 'own'")
    }
    #expect(found == Found(user: ["own"], session: ["own"], none: ["own"]))
  }

  @Test(
    .requires(.postgreSQL),
    arguments: [
      "SELECT 1",
      // The tables as the first version created them.
      """
      ALTER TABLE sequencing_oauth.accounts DROP COLUMN user_digest, DROP COLUMN session_digest,
        DROP COLUMN digests_of;
      ALTER TABLE sequencing_oauth.pauses DROP COLUMN asking;
      UPDATE sequencing_oauth.store SET version = 1
      """,
      // What a host with the first version of the library does at a save.
      "UPDATE sequencing_oauth.accounts SET version = version + 1, user_digest = NULL",
    ])
  func `a PostgreSQL store finds accounts by user and by session`(
    change: String
  ) async throws {
    try await PostgreSQLServer.running { server in
      let stores = [0, 1].map { _ in DatabaseTests.store(server) }
      let found = try await found(stores, sessionIDs: .exceptOnRefresh) {
        _ = try await server.run(change)
      }
      #expect(found == Self.right)
      let version = try await server.run("SELECT version FROM sequencing_oauth.store")
      #expect(version.contains("2"))
      let unnoted = try await server.run(
        """
        SELECT 'left ' || count(*) FROM sequencing_oauth.accounts
        WHERE digests_of IS DISTINCT FROM version
        """)
      #expect(unnoted.contains("left 0"))
    }
  }

  @Test(.requires(.postgreSQL))
  func `after a change of the key, accounts are found by user and by session`() async throws {
    try await PostgreSQLServer.running { server in
      let store = PostgreSQLTokenStore(
        connection: server.connection, key: .testKey, otherKeys: [.otherTestKey])
      let found = try await found([store, store]) { try await store.changeKey(to: .otherTestKey) }
      #expect(found == Self.right)
    }
  }

  @Test func `after a change of the key, a store with the old key rejects the database file`()
    async throws
  {
    let files = try SQLiteFolder()
    let stores = [files.store(SQLiteFolder.key), files.store(SQLiteFolder.key)]
    try await stores[0].save(record("a"))
    #expect(try await stores[1].list() == ["a"])
    try await stores[0].changeKey(to: SQLiteFolder.otherKey)
    await failure(.wrongPassphrase) { try await stores[1].forEachEntry { _ in } }
  }

  @Test(.requires(.postgreSQL))
  func `a back-channel logout ends all readable accounts in a PostgreSQL database`()
    async throws
  {
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

  @Test(.requires(.postgreSQL))
  func `a logout at a host without the newest key ends all accounts that the host can read`()
    async throws
  {
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
