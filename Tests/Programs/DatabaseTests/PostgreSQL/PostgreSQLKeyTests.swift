import Foundation
import LoopbackSupport
import OAuthSandbox
import ProgramSupport
import SQBasics
import SQCrypto
import SequencingOAuth
import SequencingOAuthBackend
import TestSupport
import Testing

@testable import SequencingOAuthPostgreSQL

/// Changes of the key for the records while hosts use the records.
@Suite(.requires(.postgreSQL), .timeLimit(.minutes(5))) struct PostgreSQLKeyTests {
  private static let newKey = StoreKey.otherTestKey

  private static func store(
    _ server: PostgreSQLServer, _ key: StoreKey, _ others: [StoreKey] = []
  ) -> PostgreSQLTokenStore {
    PostgreSQLTokenStore(connection: server.connection, key: key, otherKeys: others)
  }

  /// Returns a store that still uses the old key, but already has the new key for a change.
  private static func prepared(_ server: PostgreSQLServer) -> PostgreSQLTokenStore {
    store(server, .testKey, [newKey])
  }

  private static func old(_ server: PostgreSQLServer) async throws -> String {
    try await server.run(
      """
      SELECT count(*) FROM sequencing_oauth.accounts
      WHERE key_number < (SELECT max(number) FROM sequencing_oauth.keys)
      """)
  }

  /// A program that changes the key may run twice.
  @Test func `a store with the old key can repeat a change of the key`() async throws {
    try await PostgreSQLServer.running { server in
      try await Self.store(server, .testKey).save(record("a"))
      for _ in 1...2 { try await Self.store(server, .testKey).changeKey(to: Self.newKey) }
      #expect(try await Self.store(server, Self.newKey).load("a") == record("a"))
      #expect(try await server.run("SELECT count(*) FROM sequencing_oauth.keys") == "2")
      await failure(.wrongPassphrase) {
        try await Self.store(server, .testKey).changeKey(to: .raw(Data(repeating: 9, count: 32)))
      }
    }
  }

  @Test func `hosts refresh tokens while the key changes and lose no sign-in`() async throws {
    try await PostgreSQLServer.running { server in
      let open = { @Sendable in Self.prepared(server) }
      try await KeptAccounts.with(.seconds(2), open) { accounts in
        let ids = (1...20).map { "account \($0)" }
        try await accounts.add(ids, expiringAfter: 1)
        let keepers = [accounts.keeper(), accounts.keeper(), accounts.keeper()]
        try await eventually("all accounts are renewed", within: .seconds(100)) {
          accounts.refreshes >= ids.count
        }
        try await open().changeKey(to: Self.newKey)
        let (refreshes, store) = (accounts.refreshes, open())
        let before = Set(try await store.all().compactMap(\.token.refreshToken))
        #expect(before.count == ids.count)
        try await eventually("all accounts are renewed again", within: .seconds(100)) {
          guard accounts.refreshes >= refreshes + 2 * ids.count else { return false }
          return try await before.isDisjoint(with: store.all().compactMap(\.token.refreshToken))
        }
        for keeper in keepers { await keeper.stop() }
        // On a busy machine a call may fail because of its time limit. The keeper repeats it.
        #expect(keepers.map(\.totals.ended) == [0, 0, 0])
        #expect(try await Self.old(server) == "0")
        let after = try await Self.store(server, Self.newKey).all()
        #expect(after.map(\.id) == ids.sorted())
        for token in after.compactMap(\.token.refreshToken) {
          #expect(accounts.sandbox.isActive(token))
        }
        #expect(accounts.sandbox.refreshTokenReuses == 0)
      }
    }
  }

  @Test func `a change of the key does not disturb a refresh in progress`() async throws {
    try await PostgreSQLServer.running { server in
      let (one, two) = (Self.prepared(server), Self.prepared(server))
      let (before, after) = (record("a"), record("a", token: SQToken(accessToken: "2")))
      try await one.save(before)
      let version = try #require(Int(try await server.version("a")))
      let lease = try #require(try await one.lease("a"))
      let known = try #require(try await one.load("a"))
      let reservation = try await one.reserve("a", replacing: known)
      try await two.changeKey(to: Self.newKey)
      await reservation.writeAhead(after)
      try await one.save(after)
      lease.release()
      #expect(try await two.load("a") == after)
      #expect(try await server.version("a") == "\(version + 1)")
      #expect(try await server.run("SELECT key_number FROM sequencing_oauth.accounts") == "2")
    }
  }

  @Test func `a host without the new key sends no further refresh request and loses no token`()
    async throws
  {
    try await PostgreSQLServer.running { server in
      let (late, other) = (Self.store(server, .testKey), Self.prepared(server))
      let (before, after) = (record("a"), record("a", token: SQToken(accessToken: "2")))
      try await late.save(before)
      let lease = try #require(try await late.lease("a"))
      let known = try #require(try await late.load("a"))
      _ = try await late.reserve("a", replacing: known)
      try await other.changeKey(to: Self.newKey)
      // The host saves the authorization server's answer after the change of the key.
      try await late.save(after)
      #expect(try await Self.old(server) == "1")
      #expect(try await other.load("a") == after)
      let error = try await #require(throws: SQOAuthError.self) {
        _ = try await late.reserve("a", replacing: after)
      }
      #expect(error.code == .wrongPassphrase)
      lease.release()
      try await late.save(record("b"))
      #expect(try await other.load("b") == record("b"))
      try await other.save(record("c"))
      await failure(.wrongPassphrase) { try await late.load("c") }
      await failure(.wrongPassphrase) { try await late.all() }
      try await other.changeKey(to: Self.newKey)
      #expect(try await Self.old(server) == "0")
      #expect(try await server.run("SELECT count(*) FROM sequencing_oauth.keys") == "2")
      #expect(try await Self.store(server, Self.newKey).list() == ["a", "b", "c"])
    }
  }

  /// The host has read the key file before, and still has the key in memory.
  @Test(arguments: [nil, ""])
  func `a host whose key file is gone or damaged saves the token that it has just received`(
    content: String?
  ) async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("tokens.key")
    try await PostgreSQLServer.running { server in
      let late = Self.store(server, .file(path))
      let (before, after) = (record("a"), record("a", token: SQToken(accessToken: "2")))
      try await late.save(before)
      let other = Self.store(server, .file(path), [Self.newKey])
      let lease = try #require(try await late.lease("a"))
      let known = try #require(try await late.load("a"))
      _ = try await late.reserve("a", replacing: known)
      try await other.changeKey(to: Self.newKey)
      try FileManager.default.removeItem(atPath: path)
      if let content { try folder.write(content, to: "tokens.key") }
      try await late.save(after)
      #expect(try await other.load("a") == after)
      await failure(.wrongPassphrase) { try await late.reserve("a", replacing: after) }
      lease.release()
      try await other.save(record("b"))
      // The unreadable account does not hide the readable one.
      let entries = try await late.entries(after: nil, limit: 9)
      #expect(entries.map { try? $0.record.get() } == [after, nil])
      let start = Self.store(server, .file(path))
      let error = await failure { try await start.load("a") }
      #expect(error?.code != .wrongPassphrase, "a program that starts says what is wrong")
    }
  }

  @Test func `a host without the new key claims no account that is due for refresh`() async throws {
    try await PostgreSQLServer.running { server in
      let (late, other) = (Self.store(server, .testKey), Self.prepared(server))
      for id in ["a", "b"] { try await late.save(PostgreSQLQueueTests.record(id)) }
      try await other.database.use { table throws(SQOAuthError) in
        _ = try await table.makeNewest(Self.newKey)
      }
      await failure(.wrongPassphrase) { try await late.take(atMost: 1, for: .seconds(600)) }
      // A host with the new key takes the accounts, although the old key sealed their records.
      let newcomer = Self.store(server, Self.newKey, [.testKey])
      let taken = try await newcomer.take(atMost: 9, for: .seconds(600)).accounts
      #expect(taken.compactMap { try? $0.record.get().id }.sorted() == ["a", "b"])
    }
  }

  @Test func `after a change of the key, a host with the new key claims accounts due for refresh`()
    async throws
  {
    try await PostgreSQLServer.running { server in
      let (one, other) = (Self.prepared(server), Self.prepared(server))
      try await one.save(PostgreSQLQueueTests.record("a"))
      try await other.changeKey(to: Self.newKey)
      let taken = try await one.take(atMost: 9, for: .seconds(600)).accounts
      #expect(taken.compactMap { try? $0.record.get().id } == ["a"])
    }
  }

  /// The statement that finds the old key's header gets no answer in time.
  @Test func `a database failure while records are decrypted fails the whole call`() async throws {
    try await PostgreSQLServer.running { server in
      let one = Self.prepared(server)
      try await one.save(PostgreSQLQueueTests.record("a"))
      try await one.database.use { table throws(SQOAuthError) in
        _ = try await table.makeNewest(Self.newKey)
      }
      let relay = try TCPRelay(to: server.port)
      let store = PostgreSQLTokenStore(
        connection: server.connection(through: relay.port), key: Self.newKey, otherKeys: [.testKey],
        connections: 1, limit: .seconds(5))
      try await eventually("the store connects") { (try? await store.list()) != nil }
      // A statement takes two requests: the first prepares it, and the second runs it.
      relay.expect(.requestWaits, atRequest: 3)
      await failure(.storeFailed) { try await store.take(atMost: 1, for: .seconds(600)) }
      // The next call must not read a late answer of the earlier one. If the earlier call failed
      // before its third request, a later call meets the fault.
      let ids = try await eventually("the store answers") { () async -> [String]? in
        relay.speakAgain()
        return try? await store.list()
      }
      #expect(ids == ["a"])
    }
  }

  @Test func `an interrupted change of the key is finished by the next change`() async throws {
    try await PostgreSQLServer.running { server in
      let store = Self.prepared(server)
      let ids = ["", "a", "b", "c", "d"]
      for id in ids { try await store.save(record(id)) }
      try await store.database.use { table throws(SQOAuthError) in
        let number = try await table.makeNewest(Self.newKey)
        let resealed = try await table.reseal(from: Data(), to: number, atMost: 2)
        #expect(resealed.next == Data("a\0".utf8) && resealed.damaged == 0)
      }
      #expect(try await Self.old(server) == "3")
      let other = Self.store(server, Self.newKey, [.testKey])
      #expect(try await other.all().map(\.id) == ids)
      try await other.changeKey(to: Self.newKey)
      #expect(try await Self.old(server) == "0")
      #expect(try await Self.store(server, Self.newKey).all().map(\.id) == ids)
      await failure(.cancelled) {
        try await Task {
          withUnsafeCurrentTask { $0?.cancel() }
          try await store.changeKey(to: .testKey)
        }.value
      }
    }
  }

  @Test func `a record of a later version is too new, and a change of the key keeps all of it`()
    async throws
  {
    try await PostgreSQLServer.running { server in
      func sealer(_ key: StoreKey) async throws -> RecordSealer {
        let header = try await server.run(
          "SELECT encode(header, 'hex') FROM sequencing_oauth.keys ORDER BY number DESC LIMIT 1")
        return try RecordSealer(key, header: try #require(Hexadecimal.decode(header)))
      }
      func json(_ sealer: RecordSealer) async throws -> String {
        let box = try await server.run("SELECT encode(value, 'hex') FROM sequencing_oauth.accounts")
        let json = try sealer.json(in: try #require(Hexadecimal.decode(box)), id: "a")
        return String(decoding: json, as: UTF8.self)
      }
      func write(_ text: String, _ sealer: RecordSealer) async throws {
        let box = Hexadecimal.encode(try sealer.seal(json: Data(text.utf8), id: "a"))
        try await server.run(
          "UPDATE sequencing_oauth.accounts SET value = decode('\(box)', 'hex')")
      }
      let store = Self.prepared(server)
      try await store.save(record("a"))
      let old = try await sealer(.testKey)
      let later = try await json(old).replacing(#""token":{"#, with: #""token":{"later":1,"#)
      try await write(later, old)
      try await store.changeKey(to: Self.newKey)
      let new = try await sealer(Self.newKey)
      #expect(try await json(new) == later)
      #expect(try await store.load("a")?.token == record("a").token)
      let form = later.replacing(#""token":{"#, with: #""sender_token":{"#)
      try await write(form, new)
      await failure(.storeTooNew) { try await store.load("a") }
      await failure(.storeTooNew) { try await store.changeKey(to: .raw(Data(count: 32))) }
      #expect(try await json(new) == form)
    }
  }

  @Test func `a change of the key reports a damaged record and encrypts all other records again`()
    async throws
  {
    try await PostgreSQLServer.running { server in
      let store = Self.prepared(server)
      for id in ["a", "b", "c"] { try await store.save(record(id)) }
      try await server.run("UPDATE sequencing_oauth.accounts SET value = '\\x00' WHERE id = 'b'")
      let error = try await #require(throws: SQOAuthError.self) {
        try await store.changeKey(to: Self.newKey)
      }
      #expect(error.code == .storeDamaged && error.message.contains("left 1 of them"))
      #expect(
        try await server.run(
          "SELECT value, key_number FROM sequencing_oauth.accounts WHERE id = 'b'")
          == "\\x00|1")
      let after = Self.store(server, Self.newKey)
      #expect(try await after.load("a") == record("a"))
      #expect(try await after.load("c") == record("c"))
    }
  }

  @Test func `the role that changes the key needs rights on the key table`() async throws {
    try await PostgreSQLServer.running { server in
      try await Self.prepared(server).save(record("a"))
      try await server.createRole("worker", password: "w")
      try await server.run(
        """
        GRANT USAGE ON SCHEMA sequencing_oauth TO worker;
        GRANT SELECT ON ALL TABLES IN SCHEMA sequencing_oauth TO worker;
        GRANT UPDATE ON sequencing_oauth.accounts TO worker
        """)
      let worker = PostgreSQLTokenStore(
        connection: server.connection(as: "worker", password: "w"), key: .testKey)
      let error = try await #require(throws: SQOAuthError.self) {
        try await worker.changeKey(to: Self.newKey)
      }
      #expect(error.code == .storeFailed && error.message.contains("grant"))
      #expect(try await server.run("SELECT count(*) FROM sequencing_oauth.keys") == "1")
      try await server.run("GRANT INSERT, UPDATE ON sequencing_oauth.keys TO worker")
      try await worker.changeKey(to: Self.newKey)
      #expect(try await Self.store(server, Self.newKey).load("a") == record("a"))
    }
  }
}
