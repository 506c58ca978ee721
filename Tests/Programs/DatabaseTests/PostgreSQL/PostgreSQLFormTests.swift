import Foundation
import ProgramSupport
import SQBasics
import SequencingOAuth
import SequencingOAuthPostgreSQL
import TestSupport
import Testing

/// Databases of earlier programs.
///
/// Each can be read, and older formats are upgraded.
@Suite(.requires(.postgreSQL), .timeLimit(.minutes(3))) struct PostgreSQLFormTests {
  /// The names of the database dumps among the stored formats.
  ///
  /// Only the last one needs no upgrade.
  static let forms = ["postgresql-1a", "postgresql-1b", "postgresql-1c", "postgresql-2"]

  private func withForm(
    _ form: String, _ body: (PostgreSQLServer) async throws -> Void
  ) async throws {
    try await PostgreSQLServer.running { server in
      // The store's role creates the tables.
      try await server.run("SET ROLE app; " + StoredForms.text("\(form).sql"))
      try await body(server)
    }
  }

  @Test(arguments: forms)
  func `a PostgreSQL database of each format version can be read and written`(form: String)
    async throws
  {
    try await withForm(form) { server in
      let one = store(server)
      #expect(try await one.load("alice") == StoredForms.record)
      #expect(try await server.run("SELECT version FROM sequencing_oauth.store") == "2")
      // These calls use each of the tables.
      let registration = try StoredForms.registration
      try await one.save(registration)
      #expect(try await one.registration(at: registration.issuer) == registration)
      #expect(try await one.isFirstUse(of: "value", until: Date() + 60, at: Date()))
      let lease = try #require(try await one.lease("alice"))
      let reservation = try await one.reserve("alice", replacing: one.load("alice"))
      reservation.release()
      lease.release()
      let name = ServerName(of: StoredForms.record)
      _ = try await one.pause(name, askedFor: nil)
      try await one.giveBack(name)
      try await one.save(StoredForms.record)
      // Another host finds the current format.
      #expect(try await store(server).all() == [StoredForms.record])
    }
  }

  @Test func `hosts that start at the same time can all read tables that need an upgrade`()
    async throws
  {
    try await withForm(Self.forms[0]) { server in
      let lists = try await withThrowingTaskGroup(of: [String].self) { group in
        for _ in 0..<8 { group.addTask { try await store(server).list() } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(lists == Array(repeating: ["alice"], count: 8))
    }
  }

  /// A backup holds the tables as long as it runs.
  @Test func `a table upgrade that times out during a backup does not block other hosts`()
    async throws
  {
    try await withForm(Self.forms[1]) { server in
      try await server.holdingAccounts("ACCESS SHARE") { () async throws -> Void in
        // The time limit may also pass while a call looks at the tables between two attempts.
        try await eventually("a call gives up because of the backup", within: .seconds(60)) {
          let new = PostgreSQLTokenStore(
            connection: server.connection, key: .testKey, limit: .seconds(10))
          let error = await failure(.storeFailed) { try await new.load("alice") }
          return error?.message.contains("a backup, holds the tables: try again") == true
        }
        // Another host reads the accounts while the backup continues.
        #expect(try await server.run("SELECT count(*) FROM sequencing_oauth.accounts") == "1")
        try await eventually("no session waits") { try await server.hasNoWaiters }
      }
      // The server does not upgrade the tables later, after the host's call has failed.
      #expect(try await server.run("SELECT version FROM sequencing_oauth.store") == "1")
      #expect(try await store(server).load("alice") == StoredForms.record)
    }
  }

  @Test func `a call that upgrades the tables waits for the end of a backup`() async throws {
    try await withForm(Self.forms[1]) { server in
      let loaded = try await server.holdingAccounts("ACCESS SHARE") {
        let loaded = Task { try await store(server).load("alice") }
        try await eventually("the upgrade makes way") {
          server.log.contains("canceling statement due to lock timeout")
        }
        return loaded
      }
      #expect(try await loaded.value == StoredForms.record)
      #expect(try await server.run("SELECT version FROM sequencing_oauth.store") == "2")
    }
  }

  /// Records are sealed, so the tables do not show when a token expires.
  @Test func `accounts in tables of the first format are due for refresh within an hour`()
    async throws
  {
    try await withForm(Self.forms[0]) { server in
      let one = store(server)
      let next = try #require(try await one.take(atMost: 1, for: .seconds(1)).next)
      #expect(next > .zero && next <= .seconds(3600))
    }
  }

  /// A program of the first format knows no columns for servers and due dates.
  ///
  /// It may keep running for a long time after another program has upgraded the tables.
  @Test(arguments: [false, true])
  func `a running program of the first format can save into upgraded tables`(isNew: Bool)
    async throws
  {
    try await withForm(Self.forms[0]) { server in
      let one = store(server)
      #expect(try await one.list() == ["alice"])
      try await server.run(
        """
        CREATE TABLE public.sent AS
          SELECT id, version, key_number, value FROM sequencing_oauth.accounts;
        \(isNew ? "DELETE FROM sequencing_oauth.accounts;" : "")
        INSERT INTO sequencing_oauth.accounts AS a (id, version, key_number, value)
          SELECT * FROM public.sent
          ON CONFLICT (id) DO UPDATE SET version = a.version + 1, value = excluded.value
        """)
      #expect(try await one.load("alice") == StoredForms.record)
      let isDueSoon = try await server.run(
        """
        SELECT due BETWEEN clock_timestamp() - interval '1 hour'
          AND clock_timestamp() + interval '1 hour' FROM sequencing_oauth.accounts
        """)
      #expect(isDueSoon == "t")
      try await one.save(StoredForms.record)
      #expect(try await store(server).all() == [StoredForms.record])
    }
  }

  @Test func `the error for a role that may not upgrade the tables says that only the owner can`()
    async throws
  {
    try await withForm(Self.forms[1]) { server in
      try await server.run(
        """
        ALTER TABLE sequencing_oauth.accounts OWNER TO CURRENT_USER;
        GRANT ALL ON sequencing_oauth.accounts TO app
        """)
      let error = await failure(.storeFailed) { try await store(server).load("alice") }
      #expect(error?.message.contains("only their owner can upgrade them") == true)
      #expect(try await server.run("SELECT version FROM sequencing_oauth.store") == "1")
    }
  }
}
