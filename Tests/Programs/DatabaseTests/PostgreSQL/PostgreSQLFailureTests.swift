import Foundation
import LoopbackSupport
import ProgramSupport
import SQBasics
import SequencingOAuth
import SequencingOAuthPostgreSQL
import TestSupport
import Testing

/// Every failure is a typed error in bounded time, and no account is lost by it.
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
  func `a connection string that cannot be understood is not repeated`(
    connection: String
  ) async throws {
    let store = PostgreSQLTokenStore(connection: connection, key: .testKey)
    let error = try await failure { _ = try await store.load("a") }
    #expect(error.code == .invalidConfiguration)
    #expect(!"\(error)\(String(reflecting: error))".contains("hidden"))
  }

  @Test func `a server that is down is an error at once, and used when it is up`() async throws {
    try await PostgreSQLServer.running { server in
      await server.stop()
      let store = store(server)
      let error = try await failure { _ = try await store.load("a") }
      #expect(error.code == .storeFailed && error.message.contains("check that the server runs"))
      try await server.restart()
      #expect(try await store.load("a") == nil)
    }
  }

  @Test func `a wrong password says what to check, and not the password`() async throws {
    try await PostgreSQLServer.running { server in
      let store = PostgreSQLTokenStore(
        connection: server.connection(password: "not this one"), key: .testKey)
      let error = try await failure { _ = try await store.load("a") }
      #expect(error.code == .storeFailed && error.message.contains("the role's current one"))
      #expect(!"\(error)".contains("not this one"))
    }
  }

  /// Each attempt would fail, and a server may lock a role out after several.
  @Test func `a password that was changed is not tried again and again`() async throws {
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

  @Test func `another key opens nothing and changes nothing`() async throws {
    try await PostgreSQLServer.running { server in
      try await store(server).save(record("a"))
      let other = PostgreSQLTokenStore(
        connection: server.connection, key: .otherTestKey)
      #expect(try await failure { _ = try await other.load("a") }.code == .wrongPassphrase)
      #expect(try await failure { try await other.save(record("a")) }.code == .wrongPassphrase)
      #expect(try await store(server).load("a") == record("a"))
    }
  }

  @Test func `a newer version of the tables is refused`() async throws {
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
  func `tables that another program altered are refused`(change: String) async throws {
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
  func `a record that somebody edited is damage, and stays as it is`(edit: String) async throws {
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

  @Test func `a server that only reads is no place to send a refresh token from`() async throws {
    try await PostgreSQLServer.running { server in
      try await store(server).save(record("a"))
      try await server.run("ALTER ROLE app SET default_transaction_read_only = on")
      let reader = store(server)
      let error = try await failure { _ = try await reader.reserve("a", replacing: nil) }
      #expect(error.code == .storeFailed && error.message.contains("only reads"))
      #expect(try await reader.load("a") == record("a"))
    }
  }

  @Test(.requires("the right to mount a file system", SmallDisk.isAllowed))
  func `a full disk is an error that says so, and what is saved stays`() async throws {
    try await PostgreSQLServer.running(hasSmallDisk: true) { server in
      let store = store(server)
      let old = record("a")
      let new = record(
        "a", token: SQToken(accessToken: String(repeating: "new", count: 1_000_000)))
      try await store.save(old)
      try await server.fillDisk()
      let lease = try #require(try await store.lease("a"))
      let known = try #require(try await store.load("a"))
      let room = try await store.reserve("a", replacing: known)
      await room.land(new)
      let error = try await failure { try await store.save(new) }
      #expect(error.code == .storeFailed && error.message.contains("free space"), "\(error)")
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

  @Test func `ended sessions and a restarted server are bridged`() async throws {
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

  @Test func `a save waits for a server that restarts`() async throws {
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

  @Test func `a network that goes silent ends each call with an error`() async throws {
    try await PostgreSQLServer.running { server in
      let relay = try TCPRelay(to: server.port)
      let store = PostgreSQLTokenStore(
        connection: server.connection(
          through: relay.port, parameters: ["connect_timeout": "2"]), key: .testKey,
        limit: .milliseconds(500))
      // On a busy machine a call may need longer than this limit, without any fault.
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

  /// The server did what it was asked, and the answer was lost.
  @Test func `a refresh whose save was answered to nobody is not saved twice`() async throws {
    try await PostgreSQLServer.running { server in
      let relay = try TCPRelay(to: server.port)
      let store = PostgreSQLTokenStore(
        connection: server.connection(through: relay.port), key: .testKey, connections: 1)
      let (old, new) = (record("a"), record("a", token: SQToken(accessToken: "new")))
      try await store.save(record("a", token: SQToken(accessToken: "first")))
      _ = try #require(try await store.lease("a"))
      _ = try await store.load("a")
      // The connection has prepared the statement by this save.
      try await store.save(old)
      let room = try await store.reserve("a", replacing: old)
      let next = "\(try #require(Int(try await server.version("a"))) + 1)"
      relay.passThrough(.requests)
      async let landed: Void = room.land(new)
      try await eventually("the server has saved it") { try await server.version("a") == next }
      relay.dropConnections()
      relay.speakAgain()
      await landed
      try await store.save(new)
      #expect(try await store.load("a") == new)
      #expect(try await server.version("a") == next)
    }
  }

  /// The server waits for a standby that is not there, and has done what it was asked nevertheless.
  @Test func `a refresh that was not sent keeps no other host out`() async throws {
    try await PostgreSQLServer.running { server in
      let store = PostgreSQLTokenStore(
        connection: server.connection, key: .testKey, limit: .seconds(1))
      try await store.save(record("a"))
      let lease = try #require(try await store.lease("a"))
      _ = try await store.load("a")
      try await server.run(
        "ALTER SYSTEM SET synchronous_standby_names = 'missing'; SELECT pg_reload_conf()")
      try await eventually("the server waits for the standby") {
        try await server.run("SHOW synchronous_standby_names") == "missing"
      }
      await #expect(throws: SQOAuthError.self) {
        try await store.reserve("a", replacing: record("a"))
      }
      lease.release()
      await store.settle()
      try await server.run(
        "ALTER SYSTEM RESET synchronous_standby_names; SELECT pg_reload_conf()")
      let other = DatabaseTests.store(server)
      let next = try await eventually("the lease is free") { try await other.lease("a") }
      next.release()
    }
  }
}
