import Foundation
import LoopbackSupport
import ProgramSupport
import SQBasics
import SequencingOAuth
import SequencingOAuthPostgreSQL
import TestSupport
import Testing

@Suite(.requires(.postgreSQL), .timeLimit(.minutes(10)))
struct TCPRelayTests {
  @Test func `a relay forwards a session and counts its connections and bytes`() async throws {
    try await PostgreSQLServer.running { server in
      let relay = try TCPRelay(to: server.port)
      let connection = server.connection(through: relay.port)
      let long = try await PostgreSQLServer.run("SELECT repeat('x', 1000000)", at: connection)
      #expect(long == String(repeating: "x", count: 1_000_000))
      try await eventually("the connection ends") { relay.openConnections == 0 }
      let counters = relay.counters
      #expect(counters.accepted == 1)
      #expect(counters.bytesToServer > 100)
      #expect(counters.bytesToClients > 1_000_000)
    }
  }

  @Test func `a silent relay holds old and new connections and forwards nothing`() async throws {
    try await PostgreSQLServer.running { server in
      let relay = try TCPRelay(to: server.port)
      let connection = server.connection(through: relay.port)
      let old = try await server.holdingLock {
        let old = try PostgreSQLServer.psql(
          "SELECT 'first'; \(Self.lock); SELECT 'then';", at: connection)
        _ = try await old.line(after: "first")
        try await server.waiters(1)
        relay.goSilent()
        return old
      }
      // The server has answered and ends the session; the client receives neither the answer nor
      // the end.
      try await server.waiters(0)
      #expect(try await server.terminateSessions() == 1)
      let counters = relay.counters
      let new = try PostgreSQLServer.psql("SELECT 'new'", at: connection)
      try await eventually("the relay accepts") { relay.counters.accepted == 2 }
      #expect(relay.openConnections == 2)
      #expect(relay.counters.bytesToServer == counters.bytesToServer)
      #expect(relay.counters.bytesToClients == counters.bytesToClients)
      #expect(old.isRunning && new.isRunning)
      #expect(old.output == "first\n")
      relay.speakAgain()
      #expect(try await new.result().output == "new\n")
      #expect(try await old.result().errors.contains("terminating connection"))
    }
  }

  @Test func `a relay that passes only requests forwards them and holds back the answers`()
    async throws
  {
    try await PostgreSQLServer.running { server in
      try await server.run("CREATE TABLE t (a int)")
      let relay = try TCPRelay(to: server.port)
      try await server.run("GRANT INSERT ON t TO app")
      let connection = server.connection(through: relay.port)
      let client = try await server.holdingLock {
        // Both statements are one request.
        let client = try PostgreSQLServer.psql(
          "\(Self.lock) \\; INSERT INTO public.t VALUES (1);", at: connection)
        try await server.waiters(1)
        relay.passThrough(.requests)
        return client
      }
      try await eventually("the row is inserted") {
        try await server.run("SELECT a FROM t") == "1"
      }
      let counters = relay.counters
      let other = try PostgreSQLServer.psql("SELECT 1", at: connection)
      try await eventually("the request passes") {
        relay.counters.bytesToServer > counters.bytesToServer
      }
      #expect(relay.counters.bytesToClients == counters.bytesToClients)
      #expect(client.isRunning && other.isRunning)
      relay.dropConnections()
      #expect(relay.openConnections == 0)
      #expect(try await client.result().status != 0)
      #expect(try await other.result().status != 0)
    }
  }

  /// Each new expected fault wakes the relay, so a request may arrive while the relay is polling.
  @Test func `the relay counts each request even while a new fault is set`() async throws {
    try await PostgreSQLServer.running { server in
      let relay = try TCPRelay(to: server.port)
      let store = PostgreSQLTokenStore(
        connection: server.connection(through: relay.port), key: .testKey, connections: 1)
      _ = try await store.load("none")
      let count = relay.requests
      for number in 1...2000 {
        relay.expect(.requestIsLost, atRequest: 2)
        #expect(try await store.load("none") == nil)
        try #require(relay.requests == count + number)
      }
    }
  }

  @Test func `a relay to a closed port ends the connection`() async throws {
    let closed = try ClosedPort()
    let relay = try TCPRelay(to: closed.number)
    let client = try PostgreSQLServer.psql(
      "SELECT 1", at: "postgresql://app@127.0.0.1:\(relay.port)/tests")
    #expect(try await client.result().status == 2)
    try await eventually("the connection ends") { relay.openConnections == 0 }
  }

  /// SQL that waits for the lock that ``PostgreSQLServer/holdingLock(_:)`` holds.
  static let lock = "SELECT pg_advisory_lock(1)"
}

extension PostgreSQLServer {
  /// Runs `body` while a superuser session holds a lock.
  func holdingLock<Result>(_ body: () async throws -> Result) async throws -> Result {
    let holder = try Self.psql(
      "SELECT pg_advisory_lock(1); SELECT 'held'; SELECT pg_sleep(3600);",
      at: superuserConnection)
    _ = try await holder.line(after: "held")
    let result = try await body()
    try await run(
      "SELECT pg_terminate_backend(pid, 20000) FROM pg_locks WHERE locktype = 'advisory' AND granted"
    )
    return result
  }

  /// Waits until `count` sessions wait for the lock.
  func waiters(_ count: Int) async throws {
    try await eventually("\(count) sessions wait") {
      try await run(
        "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted") == "\(count)"
    }
  }
}
