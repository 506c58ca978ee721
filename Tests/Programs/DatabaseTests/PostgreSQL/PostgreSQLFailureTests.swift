import Foundation
import LoopbackSupport
import ProgramSupport
import SQBasics
import SequencingOAuth
import SequencingOAuthPostgreSQL
import TestSupport
import Testing

/// Failures of the database.
///
/// A call fails with a typed error within a time limit, or succeeds when the database works again.
/// No account is lost.
@Suite(.requires(.postgreSQL), .timeLimit(.minutes(3))) struct PostgreSQLFailureTests {
  private func failure(
    _ body: () async throws -> Void, _ location: SourceLocation = #_sourceLocation
  ) async throws -> SQOAuthError {
    try await #require(throws: SQOAuthError.self, sourceLocation: location) { try await body() }
  }

  @Test(arguments: [
    "postgresql://app:hidden%zz@127.0.0.1/app", "host=127.0.0.1 password", "nonsense=hidden",
    "postgresql://app:hidden@127.0.0.1:port:port/\u{0}", "postgresql://app:x@hidden@127.0.0.1/app",
    "postgresql://app:hidden/x@127.0.0.1/app", "postgresql://app:12/hidden@127.0.0.1/app",
    "postgresql://app:12/x@hidden/app", "host=127.0.0.1@hidden", "host=a,b@hidden",
    "port=1hidden", "postgresql://a,x@hidden@127.0.0.1/app",
  ])
  func `an invalid connection string is not repeated in its error`(
    connection: String
  ) async throws {
    let store = PostgreSQLTokenStore(connection: connection, key: .testKey)
    let error = try await failure { _ = try await store.load("a") }
    #expect(error.code == .invalidConfiguration)
    #expect(!"\(error)\(String(reflecting: error))".contains("hidden"))
  }

  @Test
  func `a call to a stopped server fails, and a call succeeds after the server's restart`()
    async throws
  {
    try await PostgreSQLServer.running { server in
      await server.stop()
      let store = store(server)
      let error = try await failure { _ = try await store.load("a") }
      #expect(error.code == .storeFailed && error.message.contains("check that the server runs"))
      try await server.restart()
      #expect(try await store.load("a") == nil)
    }
  }

  @Test func `the error for a wrong password says what to check and does not show the password`()
    async throws
  {
    try await PostgreSQLServer.running { server in
      let store = PostgreSQLTokenStore(
        connection: server.connection(password: "not this one"), key: .testKey)
      let error = try await failure { _ = try await store.load("a") }
      #expect(error.code == .storeFailed && error.message.contains("the role's current one"))
      #expect(!"\(error)".contains("not this one"))
    }
  }

  /// Each attempt would fail, and some servers lock a role after several failures.
  @Test func `after a change of the password, a call tries the old password only once`()
    async throws
  {
    try await PostgreSQLServer.running { server in
      let relay = try TCPRelay(to: server.port)
      let store = PostgreSQLTokenStore(
        connection: server.connection(through: relay.port), key: .testKey, connections: 1)
      #expect(try await store.list() == [])
      try await server.run("ALTER ROLE app PASSWORD 'another'")
      try await server.terminateSessions()
      let before = relay.counters.accepted
      let error = try await failure { try await store.save(record("a")) }
      #expect(error.message.contains("the role's current one"), "\(error)")
      #expect(relay.counters.accepted == before + 1)
    }
  }

  @Test func `a store with another key can neither read nor write`() async throws {
    try await PostgreSQLServer.running { server in
      try await store(server).save(record("a"))
      let other = PostgreSQLTokenStore(
        connection: server.connection, key: .otherTestKey)
      #expect(try await failure { _ = try await other.load("a") }.code == .wrongPassphrase)
      #expect(try await failure { try await other.save(record("a")) }.code == .wrongPassphrase)
      #expect(try await store(server).load("a") == record("a"))
    }
  }

  @Test func `a newer version of the tables is rejected`() async throws {
    try await PostgreSQLServer.running { server in
      try await store(server).save(record("a"))
      try await server.run("UPDATE sequencing_oauth.store SET version = 99")
      let error = try await failure { try await store(server).save(record("a")) }
      #expect(error.code == .storeTooNew)
    }
  }

  @Test(arguments: [
    "ALTER TABLE sequencing_oauth.accounts ADD COLUMN more text",
    "ALTER TABLE sequencing_oauth.accounts DROP COLUMN version",
    "ALTER TABLE sequencing_oauth.accounts DROP CONSTRAINT accounts_pkey",
    "ALTER TABLE sequencing_oauth.leases ALTER COLUMN holder DROP NOT NULL",
    "ALTER TABLE sequencing_oauth.accounts ENABLE ROW LEVEL SECURITY",
    "ALTER TABLE sequencing_oauth.keys RENAME TO locks",
    "CREATE RULE none AS ON DELETE TO sequencing_oauth.accounts DO INSTEAD NOTHING",
    "DELETE FROM sequencing_oauth.store",
  ])
  func `tables that another program altered are rejected`(change: String) async throws {
    try await PostgreSQLServer.running { server in
      try await store(server).save(record("a"))
      try await server.run(change)
      let error = try await failure { try await store(server).save(record("b")) }
      #expect(error.code == .storeDamaged && error.message.contains("altered"))
      #expect(try await server.run("SELECT count(*) FROM sequencing_oauth.accounts") == "1")
    }
  }

  @Test(arguments: [
    "UPDATE sequencing_oauth.accounts SET value = set_byte(value, 20, 1 + get_byte(value, 20) % 9)",
    "UPDATE sequencing_oauth.accounts SET value = ''",
    "UPDATE sequencing_oauth.accounts SET id = 'b'",
  ])
  func `a record that another program edited is reported as damaged and not changed`(edit: String)
    async throws
  {
    try await PostgreSQLServer.running { server in
      try await store(server).save(record("a"))
      try await server.run(edit)
      let id = try await server.run(
        "SELECT convert_from(id, 'UTF8') FROM sequencing_oauth.accounts")
      let before = try await server.run("SELECT value FROM sequencing_oauth.accounts")
      let store = store(server)
      #expect(try await failure { _ = try await store.load(id) }.code == .storeDamaged)
      #expect(try await failure { _ = try await store.all() }.code == .storeDamaged)
      #expect(try await server.run("SELECT value FROM sequencing_oauth.accounts") == before)
    }
  }

  @Test func `a read-only server is detected before a refresh token is sent`() async throws {
    try await PostgreSQLServer.running { server in
      try await store(server).save(record("a"))
      try await server.run("ALTER ROLE app SET default_transaction_read_only = on")
      let reader = store(server)
      let error = try await failure { _ = try await reader.reserve("a", replacing: nil) }
      #expect(error.code == .storeFailed && error.message.contains("read-only"))
      #expect(try await reader.load("a") == record("a"))
      let other = try await failure { try await reader.checkSaving(at: "https://id.example") }
      #expect(other.code == .storeFailed && other.message.contains("read-only"))
    }
  }

  @Test func `a role that may not save registrations is detected before a client registers`()
    async throws
  {
    try await PostgreSQLServer.running { server in
      let store = store(server)
      try await store.checkSaving(at: "https://id.example")
      try await server.run("REVOKE UPDATE ON sequencing_oauth.registrations FROM app")
      let error = try await failure { try await store.checkSaving(at: "https://id.example") }
      #expect(error.code == .storeFailed && error.message.contains("role"))
      try await store.save(record("a"))
    }
  }

  @Test(.requires("the right to mount a file system", SmallDisk.isAllowed))
  func `a full disk causes a clear error, and saved records are kept`() async throws {
    try await PostgreSQLServer.running(hasSmallDisk: true) { server in
      let store = store(server)
      let old = record("a")
      let new = record(
        "a", token: SQToken(accessToken: String(repeating: "new", count: 1_000_000)))
      try await store.save(old)
      try await server.fillDisk()
      let lease = try #require(try await store.lease("a"))
      let known = try #require(try await store.load("a"))
      let reservation = try await store.reserve("a", replacing: known)
      await reservation.writeAhead(new)
      let error = try await failure { try await store.save(new) }
      #expect(error.code == .storeFailed && error.message.contains("make room"), "\(error)")
      #expect(try await store.load("a") == old)
      await #expect(throws: SQOAuthError.self) {
        try await store.save(record("b", token: new.token))
      }
      #expect(try await store.list() == ["a"])
      try await server.freeDisk()
      try await store.save(new)
      lease.release()
      #expect(try await DatabaseTests.store(server).load("a") == new)
    }
  }

  @Test func `calls succeed after the database ends its sessions or restarts`() async throws {
    try await PostgreSQLServer.running { server in
      let store = store(server)
      for round in 0..<5 {
        let record = record("a", token: SQToken(accessToken: "\(round)"))
        try await store.save(record)
        if round.isMultiple(of: 2) {
          try await server.terminateSessions()
        } else {
          server.kill()
          try await server.restart()
        }
        #expect(try await store.load("a") == record)
      }
    }
  }

  @Test func `a save waits for a restarting server`() async throws {
    try await PostgreSQLServer.running { server in
      let store = store(server)
      try await store.save(record("a"))
      server.kill()
      async let saved: Void = store.save(record("b"))
      try await server.restart()
      try await saved
      #expect(try await store.list() == ["a", "b"])
    }
  }

  @Test func `a call over a silent network fails with an error`() async throws {
    try await PostgreSQLServer.running { server in
      let relay = try TCPRelay(to: server.port)
      let store = PostgreSQLTokenStore(
        connection: server.connection(
          through: relay.port, parameters: ["connect_timeout": "2"]), key: .testKey,
        limit: .seconds(5))
      // On a busy machine a call may take longer than this limit even without a fault.
      try await eventually { (try? await store.save(record("a"))) != nil }
      relay.goSilent()
      let error = try await failure { _ = try await store.load("a") }
      #expect(error.code == .storeFailed && error.message.contains("no answer"), "\(error)")
      await #expect(throws: SQOAuthError.self) { try await store.save(record("a")) }
      relay.dropConnections()
      relay.speakAgain()
      #expect(try await eventually { try? await store.load("a") } == record("a"))
    }
  }

  /// A server does not notice that its client has gone while a statement waits for a lock.
  @Test func `a statement that reaches its time limit does not stay on the server`() async throws {
    try await PostgreSQLServer.running { server in
      try await leavesNoStatement(server, server.connection)
    }
  }

  @Test(.requires(.pgbouncer))
  func `a statement that reaches its time limit does not stay on the server behind PgBouncer`()
    async throws
  {
    try await PostgreSQLServer.running { server in
      try await PgBouncer.running(server) { pool in
        try await leavesNoStatement(server, pool.connection)
      }
    }
  }

  private func leavesNoStatement(_ server: PostgreSQLServer, _ connection: String) async throws {
    try await store(server).save(record("a"))
    let hurried = PostgreSQLTokenStore(
      connection: connection, key: .testKey, limit: .seconds(10))
    try await server.holdingAccounts("SHARE ROW EXCLUSIVE") {
      let error = try await failure { try await hurried.save(record("b")) }
      #expect(error.code == .storeFailed && error.message.contains("no answer"), "\(error)")
      try await eventually("the server cancels the statement") {
        server.log.contains("canceling statement due to user request")
      }
      try await eventually("no session waits") { try await server.hasNoWaiters }
    }
    #expect(try await hurried.list() == ["a"])
  }

  /// The server processed the request, but its answer was lost.
  @Test func `a save takes effect only once even if the database's answer is lost`() async throws {
    try await PostgreSQLServer.running { server in
      let relay = try TCPRelay(to: server.port)
      let store = PostgreSQLTokenStore(
        connection: server.connection(through: relay.port), key: .testKey, connections: 1)
      let (old, new) = (record("a"), record("a", token: SQToken(accessToken: "new")))
      try await store.save(record("a", token: SQToken(accessToken: "first")))
      _ = try #require(try await store.lease("a"))
      _ = try await store.load("a")
      // By now the connection has prepared the save statement.
      try await store.save(old)
      let reservation = try await store.reserve("a", replacing: old)
      let next = "\(try #require(Int(try await server.version("a"))) + 1)"
      relay.passThrough(.requests)
      async let landed: Void = reservation.writeAhead(new)
      try await eventually("the server has saved the token") {
        try await server.version("a") == next
      }
      relay.dropConnections()
      relay.speakAgain()
      await landed
      try await store.save(new)
      #expect(try await store.load("a") == new)
      #expect(try await server.version("a") == next)
    }
  }

  /// The server processed the request, but its answer was lost.
  ///
  /// Before the call is repeated, another host changes the account.
  @Test(arguments: [false, true])
  func `a repeated sign-in or sign-out does not undo another host's later change`(
    isSignOut: Bool
  ) async throws {
    try await PostgreSQLServer.running { server in
      let relay = try TCPRelay(to: server.port)
      let (store, other) = (
        PostgreSQLTokenStore(
          connection: server.connection(through: relay.port), key: .testKey, connections: 1),
        DatabaseTests.store(server)
      )
      let newer = record("a", token: SQToken(accessToken: "newer"))
      // By the time of the tested call, the connection has prepared the statement.
      if isSignOut {
        try await other.save(record("a"))
        try await store.erase("b")
      } else {
        try await store.save(record("b"))
      }
      let call: @Sendable () async throws -> Void = {
        if isSignOut { try await store.erase("a") } else { try await store.save(record("a")) }
      }
      relay.passThrough(.requests)
      async let called: Void = call()
      try await eventually("the server has processed the request") {
        try await other.load("a") == (isSignOut ? nil : record("a"))
      }
      try await other.save(newer)
      relay.dropConnections()
      relay.speakAgain()
      try await called
      #expect(try await other.load("a") == newer)
      // The store knows that the other host's record is the newest, not the one that it sent
      // itself.
      let lease = try #require(try await store.lease("a"))
      #expect(try await store.load("a") == newer)
      try await store.reserve("a", replacing: newer).release()
      lease.release()
    }
  }

  /// The server processed the request, but its answer was lost.
  @Test
  func `a sign-in is saved once even if the database's answer is lost, and a refresh can follow`()
    async throws
  {
    try await PostgreSQLServer.running { server in
      let relay = try TCPRelay(to: server.port)
      let store = PostgreSQLTokenStore(
        connection: server.connection(through: relay.port), key: .testKey, connections: 1)
      // By now the connection has prepared the save statement.
      try await store.save(record("b"))
      let lease = try #require(try await store.lease("a"))
      relay.passThrough(.requests)
      async let saved: Void = store.save(record("a"))
      try await eventually("the server has saved the record") {
        try await !server.version("a").isEmpty
      }
      let version = try await server.version("a")
      relay.dropConnections()
      relay.speakAgain()
      try await saved
      #expect(try await server.version("a") == version)
      // The store knows the saved row, so this reservation succeeds without another read of the
      // row.
      try await store.reserve("a", replacing: record("a")).release()
      lease.release()
    }
  }

  /// The reservation fails because the server waits for a missing standby, but the server has
  /// already stored it.
  @Test func `a refresh that was not sent does not block other hosts`() async throws {
    try await PostgreSQLServer.running { server in
      let other = DatabaseTests.store(server)
      try await other.save(record("a"))
      let store = PostgreSQLTokenStore(
        connection: server.connection, key: .testKey, limit: .seconds(5))
      // On a busy machine a call may take longer than this limit even without a fault.
      let lease = try await eventually("the store has the lease") { try? await store.lease("a") }
      try await eventually { (try? await store.load("a")) != nil }
      try await server.run(
        "ALTER SYSTEM SET synchronous_standby_names = 'missing'; SELECT pg_reload_conf()")
      try await eventually("the server waits for the standby") {
        try await server.run("SHOW synchronous_standby_names") == "missing"
      }
      await #expect(throws: SQOAuthError.self) {
        try await store.reserve("a", replacing: record("a"))
      }
      lease.release()
      await store.flush()
      try await server.run(
        "ALTER SYSTEM RESET synchronous_standby_names; SELECT pg_reload_conf()")
      let next = try await eventually("the lease is free") { try await other.lease("a") }
      next.release()
    }
  }
}
