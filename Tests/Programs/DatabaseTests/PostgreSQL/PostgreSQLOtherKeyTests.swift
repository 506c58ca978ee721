import OAuthSandbox
import ProgramSupport
import SequencingOAuthPostgreSQL
import TestSupport
import Testing

@testable import LoopbackSupport
@testable import SQBasics
@testable import SequencingOAuth
@testable import SequencingOAuthBackend

/// Keys that running hosts do not expect: of a database that was restored or created again, and of
/// a newer program.
@Suite(.requires(.postgreSQL), .timeLimit(.minutes(3))) struct PostgreSQLOtherKeyTests {
  private static let newKey = StoreKey.otherTestKey

  /// Returns a store that still uses the old key, but already has the new key for a change.
  private static func prepared(_ server: PostgreSQLServer) -> PostgreSQLTokenStore {
    PostgreSQLTokenStore(connection: server.connection, key: .testKey, otherKeys: [newKey])
  }

  private static let drop = "DROP SCHEMA sequencing_oauth CASCADE"
  private static let backUp = """
    CREATE TABLE old_keys AS SELECT * FROM sequencing_oauth.keys;
    CREATE TABLE old_accounts AS SELECT * FROM sequencing_oauth.accounts
    """
  private static let restore = """
    BEGIN;
    DELETE FROM sequencing_oauth.accounts;
    DELETE FROM sequencing_oauth.keys;
    INSERT INTO sequencing_oauth.keys SELECT * FROM old_keys;
    INSERT INTO sequencing_oauth.accounts SELECT * FROM old_accounts;
    COMMIT
    """

  // MARK: Other keys with the same number

  @Test func `hosts that run on use the key of a database that was created again`() async throws {
    let registrations = try await Registrations.atServersOfTheirOwn(2)
    try await PostgreSQLServer.running { server in
      let (saving, reading) = (store(server), store(server))
      for host in [saving, reading] { #expect(try await host.list() == []) }
      try await server.run(Self.drop)
      let other = store(server)
      try await other.save(record("a"))
      try await other.save(registrations[0])
      // One host notices the other key when it saves, the other one when it reads.
      try await saving.save(record("b"))
      try await saving.save(registrations[1])
      #expect(try await reading.load("a") == record("a"))
      #expect(try await reading.registration(at: registrations[0].issuer) == registrations[0])
      try await reading.save(record("c"))
      for host in [saving, reading, other, store(server)] {
        #expect(try await host.all() == ["a", "b", "c"].map { record($0) })
        for registration in registrations {
          #expect(try await host.registration(at: registration.issuer) == registration)
        }
      }
    }
  }

  @Test
  func `a host finds accounts by user and by session in a database that was created again`()
    async throws
  {
    let party = try await OpenIDFixture(.es256)
    try await party.signIn()
    try await PostgreSQLServer.running { server in
      let host = store(server)
      #expect(try await host.list() == [])
      try await server.run(Self.drop)
      let record = try await party.record("a")
      try await store(server).save(record)
      let idToken = try #require(record.token.idToken)
      let names = [
        SessionName.user(issuer: idToken.issuer, subject: idToken.subject),
        SessionName.session(issuer: idToken.issuer, id: try #require(record.providerSessionID)),
      ]
      for name in names { #expect(try await host.entries(of: name).map(\.id) == ["a"]) }
    }
  }

  @Test func `a refresh is saved with the newest key of a database that was restored meanwhile`()
    async throws
  {
    try await PostgreSQLServer.running { server in
      let (one, keeper) = (Self.prepared(server), Self.prepared(server))
      let before = PostgreSQLQueueTests.record("a")
      try await one.save(before)
      try await server.run(Self.backUp)
      try await one.changeKey(to: Self.newKey)
      for host in [one, keeper] { #expect(try await host.load("a") == before) }
      let lease = try #require(try await one.lease("a"))
      let known = try #require(try await one.load("a"))
      _ = try await one.reserve("a", replacing: known)
      try await server.run(Self.restore)
      // The same change of the key makes another record key with the same number.
      try await Self.prepared(server).changeKey(to: Self.newKey)
      let taken = try await keeper.take(atMost: 9, for: .seconds(600)).accounts
      #expect(taken.compactMap { try? $0.record.get() } == [before])
      let after = record("a", token: SQToken(accessToken: "2"))
      try await one.save(after)
      lease.release()
      let fresh = PostgreSQLTokenStore(connection: server.connection, key: Self.newKey)
      #expect(try await fresh.load("a") == after)
    }
  }

  @Test func `a host saves its new token with the newest of its keys that a database still has`()
    async throws
  {
    try await PostgreSQLServer.running { server in
      let host = Self.prepared(server)
      try await host.save(record("a"))
      try await server.run(Self.backUp)
      try await host.changeKey(to: Self.newKey)
      let lease = try #require(try await host.lease("a"))
      let known = try #require(try await host.load("a"))
      _ = try await host.reserve("a", replacing: known)
      try await server.run(Self.restore)
      // A newer program has changed the key of the restored database twice.
      try await server.run(
        """
        INSERT INTO sequencing_oauth.keys SELECT n, convert_to(
          replace(convert_from(header, 'UTF8'), '"version":1', '"version":2'), 'UTF8')
        FROM sequencing_oauth.keys, generate_series(2, 3) n
        """)
      let after = record("a", token: SQToken(accessToken: "2"))
      try await host.save(after)
      lease.release()
      #expect(try await host.load("a") == after)
    }
  }

  @Test func `a host saves nothing with a key that the database no longer has`() async throws {
    try await PostgreSQLServer.running { server in
      let late = store(server)
      try await late.save(record("a"))
      try await server.run(Self.drop)
      let other = PostgreSQLTokenStore(connection: server.connection, key: Self.newKey)
      try await other.save(record("b"))
      await failure(.wrongPassphrase) { try await late.save(record("c")) }
      await failure(.wrongPassphrase) { try await late.load("b") }
      #expect(try await other.all() == [record("b")])
    }
  }

  // MARK: A key of a newer program

  @Test func `a host that is older than the newest key saves its new token and ends sessions`()
    async throws
  {
    let party = try await OpenIDFixture(.es256)
    try await party.signIn()
    try await PostgreSQLServer.running { server in
      let host = store(server)
      try await host.save(record("a"))
      try await host.save(try await party.record("b"))
      let lease = try #require(try await host.lease("a"))
      let known = try #require(try await host.load("a"))
      _ = try await host.reserve("a", replacing: known)
      try await server.run(
        """
        INSERT INTO sequencing_oauth.keys SELECT 2, convert_to(
          replace(convert_from(header, 'UTF8'), '"version":1', '"version":2'), 'UTF8')
        FROM sequencing_oauth.keys
        """)
      let after = record("a", token: SQToken(accessToken: "2"))
      try await host.save(after)
      #expect(try await host.load("a") == after)
      await failure(.storeTooNew) { try await host.reserve("a", replacing: after) }
      lease.release()
      let idToken = try #require(try await party.record("b").token.idToken)
      let user = SessionName.user(issuer: idToken.issuer, subject: idToken.subject)
      #expect(try await host.entries(of: user).map(\.id) == ["b"])
    }
  }
}
