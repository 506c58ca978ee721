import Foundation
import ProgramSupport
import SQBasics
import SequencingOAuth
import TestSupport
import Testing

@testable import SequencingOAuthPostgreSQL

/// What the PostgreSQL store guarantees in addition to the guarantees of every store.
@Suite(.requires(.postgreSQL), .timeLimit(.minutes(5))) struct PostgreSQLStoreTests {
  @Test func `a saved record survives a restart, and its token is not readable in the database`()
    async throws
  {
    try await PostgreSQLServer.running { server in
      let record = record("alice", token: SQToken(accessToken: "secret", refreshToken: "rt"))
      try await store(server).save(record)
      await server.stop()
      try await server.restart()
      #expect(try await store(server).load("alice") == record)
      let dump = try await server.run("SELECT * FROM sequencing_oauth.accounts")
      #expect(!dump.contains("secret") && !dump.contains(Data("secret".utf8).hexadecimal))
    }
  }

  @Test func `ten stores that start at the same time create one schema and one key`() async throws {
    try await PostgreSQLServer.running { server in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for index in 0..<10 {
          group.addTask { try await store(server).save(record("\(index)")) }
        }
        try await group.waitForAll()
      }
      #expect(try await store(server).list().count == 10)
      #expect(try await server.run("SELECT count(*) FROM sequencing_oauth.keys") == "1")
      #expect(try await server.run("SELECT count(*) FROM sequencing_oauth.store") == "1")
    }
  }

  /// The role may use what an administrator created, but owns none of it.
  @Test func `a role without ownership needs only the documented rights`() async throws {
    try await PostgreSQLServer.running { server in
      try await store(server).save(record("a"))
      try await server.createRole("worker", password: "w")
      let worker = PostgreSQLTokenStore(
        connection: server.connection(as: "worker", password: "w"), key: .testKey)
      let refused = try await #require(throws: SQOAuthError.self) { try await worker.load("a") }
      #expect(refused.code == .storeFailed && refused.message.contains("grant"))
      try await server.run(
        """
        GRANT USAGE ON SCHEMA sequencing_oauth TO worker;
        GRANT SELECT ON sequencing_oauth.store, sequencing_oauth.keys TO worker;
        GRANT SELECT, INSERT, UPDATE, DELETE
          ON sequencing_oauth.accounts, sequencing_oauth.leases, sequencing_oauth.pauses,
            sequencing_oauth.registrations, sequencing_oauth.used TO worker
        """)
      let lease = try #require(try await worker.lease("a"))
      let before = try #require(try await worker.load("a"))
      let reservation = try await worker.reserve("a", replacing: before)
      let after = record("a", token: SQToken(accessToken: "2"))
      await reservation.writeAhead(after)
      try await worker.save(after)
      lease.release()
      #expect(try await store(server).load("a") == after)
      let due = try await worker.take(atMost: 1, for: .seconds(1))
      #expect(due.accounts.isEmpty && due.next == nil)
      let pause = try await worker.pause(ServerName(of: after), askedFor: .seconds(5))
      #expect(pause > .seconds(4) && pause <= .seconds(5))
      try await worker.resume(ServerName(of: after))
      #expect(try await worker.isFirstUse(of: "x", until: Date() + 60, at: Date()))
      try await worker.erase("a")
      #expect(try await worker.list() == [])
    }
  }

  @Test func `a store with more than a thousand accounts returns all of them, sorted by id`()
    async throws
  {
    try await PostgreSQLServer.running { server in
      // On a slow machine, this many saves take longer than a call's default limit.
      let store = PostgreSQLTokenStore(
        connection: server.connection, key: .testKey, connections: 4, limit: .seconds(200))
      let ids = (0..<1005).map { "account \($0)" }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for id in ids { group.addTask { try await store.save(record(id)) } }
        try await group.waitForAll()
      }
      #expect(try await store.all().map(\.id) == ids.sorted())
    }
  }

  @Test func `an id of 2048 bytes is accepted, and a longer id is rejected before a sign-in`()
    async throws
  {
    try await PostgreSQLServer.running { server in
      let store = store(server)
      // Random letters, which no server can compress.
      var generator = SystemRandomNumberGenerator()
      let letters = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")
      let long = String((0..<2048).map { _ in letters.randomElement(using: &generator) ?? "a" })
      let lease = try #require(try await store.lease(long))
      try await store.save(record(long))
      lease.release()
      #expect(try await store.list() == [long])
      await failure(.invalidConfiguration) { try await store.save(record(long + "x")) }
      await failure(.invalidConfiguration) { try await store.lease(long + "x") }
      #expect(try await store.load(long + "x") == nil)
    }
  }

  @Test func `every call is answered even if there are more callers than connections`() async throws
  {
    try await PostgreSQLServer.running { server in
      let store = PostgreSQLTokenStore(
        connection: server.connection, key: .testKey, connections: 2)
      try await store.save(record("a"))
      try await withThrowingTaskGroup(of: AccountRecord?.self) { group in
        for _ in 0..<100 { group.addTask { try await store.load("a") } }
        for try await loaded in group { #expect(loaded == record("a")) }
      }
      let sessions = try await server.run(
        "SELECT count(*) FROM pg_stat_activity WHERE usename = 'app'")
      // Two connections for calls and one for notifications.
      #expect(Int(sessions) ?? 9 <= 3)
    }
  }

  @Test func `calls that wait for the server do not block other tasks`() async throws {
    try await PostgreSQLServer.running { server in
      let (store, other) = (
        PostgreSQLTokenStore(
          connection: server.connection, key: .testKey, connections: 8, limit: .seconds(200)),
        store(server)
      )
      let ids = (0..<8).map { "account \($0)" }
      for id in ids { try await store.save(record(id)) }
      let settings = try ConnectionSettings(server.connection, environment: [:])
      try await withThrowingTaskGroup(of: Void.self) { group in
        let blocker = try Connection(settings)
        // If no task can run, the server ends the transaction, so the test fails instead of
        // hanging.
        try blocker.run(
          script: """
            SET idle_in_transaction_session_timeout = '90s';
            BEGIN; UPDATE sequencing_oauth.accounts SET version = version
            """, until: .now + .seconds(100))
        for id in ids { group.addTask { try await store.save(record(id)) } }
        try await eventually("all calls wait") {
          try await server.run("SELECT count(*) FROM pg_locks WHERE NOT granted") == "8"
        }
        // Now more calls are waiting than there are threads for tasks.
        for _ in 0..<100 { _ = try await other.load("account 1") }
        try blocker.run(script: "ROLLBACK", until: .now + .seconds(100))
        try await group.waitForAll()
      }
    }
  }

  @Test func `a deallocated store closes its connections`() async throws {
    try await PostgreSQLServer.running { server in
      try await store(server).save(record("a"))
      try await eventually("the connections are closed") {
        try await server.run(
          "SELECT count(*) FROM pg_stat_activity WHERE usename = 'app'") == "0"
      }
    }
  }
}

func store(_ server: PostgreSQLServer) -> PostgreSQLTokenStore {
  PostgreSQLTokenStore(connection: server.connection, key: .testKey)
}

extension PostgreSQLServer {
  /// Runs `body` while another session holds a lock on the table of accounts, in a mode such as
  /// `ACCESS SHARE`.
  func holdingAccounts<Result>(
    _ mode: String, _ body: () async throws -> Result
  ) async throws -> Result {
    let holder = try Self.psql(
      """
      SET application_name = 'holder';
      BEGIN;
      LOCK TABLE sequencing_oauth.accounts IN \(mode) MODE;
      SELECT 'held';
      SELECT pg_sleep(3600);
      """, at: superuserConnection)
    _ = try await holder.line(after: "held")
    let result = try await body()
    try await run(
      """
      SELECT pg_terminate_backend(pid, 20000) FROM pg_stat_activity
      WHERE application_name = 'holder'
      """)
    withExtendedLifetime(holder) {}
    return result
  }

  /// Whether no session waits for a lock.
  var hasNoWaiters: Bool {
    get async throws {
      try await run("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'") == "0"
    }
  }

  /// Returns the version of an account's row, or an empty text without a row.
  func version(_ id: String) async throws -> String {
    try await run("SELECT version FROM sequencing_oauth.accounts WHERE id = '\(id)'")
  }
}

extension Data {
  var hexadecimal: String { map { String(format: "%02x", $0) }.joined() }
}
