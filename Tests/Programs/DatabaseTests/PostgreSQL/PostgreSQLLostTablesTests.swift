import ProgramSupport
import SequencingOAuth
import SequencingOAuthPostgreSQL
import TestSupport
import Testing

/// Tables and keys that disappear while hosts run, because an operator removes them or restores an
/// older backup.
///
/// The hosts need no restart.
@Suite(.requires(.postgreSQL), .timeLimit(.minutes(3))) struct PostgreSQLLostTablesTests {
  private static let drop = "DROP SCHEMA sequencing_oauth CASCADE"

  /// Returns a host that creates lost tables again after the given time.
  private func host(_ server: PostgreSQLServer, patience: Duration) -> PostgreSQLTokenStore {
    PostgreSQLTokenStore(
      connection: server.connection, key: .testKey, limit: .seconds(30), patience: patience)
  }

  @Test func `hosts that run on create lost tables again`() async throws {
    try await PostgreSQLServer.running { server in
      let (saving, reading) = (host(server, patience: .zero), host(server, patience: .zero))
      for host in [saving, reading] { #expect(try await host.list() == []) }
      try await server.run(Self.drop)
      try await saving.save(record("a"))
      for host in [saving, reading, store(server)] {
        #expect(try await host.all() == [record("a")])
      }
    }
  }

  @Test func `a host that runs on creates a lost key again if there are no records`() async throws {
    try await PostgreSQLServer.running { server in
      let one = host(server, patience: .zero)
      #expect(try await one.list() == [])
      try await server.run("DELETE FROM sequencing_oauth.keys")
      try await one.save(record("a"))
      #expect(try await store(server).all() == [record("a")])
    }
  }

  @Test func `calls that need no key do not delay the creation of a lost key`() async throws {
    try await PostgreSQLServer.running { server in
      let one = host(server, patience: .seconds(1))
      #expect(try await one.list() == [])
      try await server.run("DELETE FROM sequencing_oauth.keys")
      try await eventually("the key is created") {
        _ = try await one.load("a")
        return (try? await one.save(record("a"))) != nil
      }
      #expect(try await store(server).all() == [record("a")])
    }
  }

  /// The records may be restored before their key is.
  @Test func `no host creates a key for records of another key`() async throws {
    try await PostgreSQLServer.running { server in
      let one = host(server, patience: .zero)
      try await one.save(record("a"))
      try await server.run(
        """
        ALTER TABLE sequencing_oauth.accounts DROP CONSTRAINT accounts_key_number_fkey;
        DELETE FROM sequencing_oauth.keys
        """)
      for host in [one, store(server)] {
        await failure(.storeDamaged) { try await host.save(record("b")) }
      }
      #expect(try await server.run("SELECT count(*) FROM sequencing_oauth.keys") == "0")
    }
  }

  /// Otherwise the host's new tables could be in the way of a backup that is being restored.
  @Test func `a host that runs on waits before it creates lost tables again`() async throws {
    try await PostgreSQLServer.running { server in
      let one = host(server, patience: .seconds(3600))
      #expect(try await one.list() == [])
      try await server.run(Self.drop)
      for _ in 0..<2 {
        let error = await failure(.storeFailed) { try await one.save(record("a")) }
        #expect(error?.message.contains("creates new ones if they are still gone") == true)
      }
      #expect(try await server.run("SELECT to_regnamespace('sequencing_oauth') IS NULL") == "t")
      try await store(server).save(record("b"))
      #expect(try await one.all() == [record("b")])
    }
  }

  @Test func `a host that runs on upgrades tables of an earlier version that were restored`()
    async throws
  {
    try await PostgreSQLServer.running { server in
      let one = host(server, patience: .seconds(3600))
      #expect(try await one.list() == [])
      try await server.run(Self.drop)
      // The store's role owns the restored tables.
      try await server.run("SET ROLE app; " + StoredForms.text("postgresql-1a.sql"))
      try await one.save(record("b"))
      #expect(try await server.run("SELECT version FROM sequencing_oauth.store") == "2")
      for host in [one, store(server)] {
        #expect(try await host.all() == [StoredForms.record, record("b")])
      }
    }
  }
}
