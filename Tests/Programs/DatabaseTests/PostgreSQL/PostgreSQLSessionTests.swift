import Foundation
import OAuthSandbox
import ProgramSupport
import SQBasics
import SequencingOAuth
import SequencingOAuthPostgreSQL
import TestSupport
import Testing

/// Sessions on several hosts that share an account.
///
/// The authorization server accepts each refresh token once.
@Suite(.requires(.postgreSQL), .timeLimit(.minutes(3))) struct PostgreSQLSessionTests {
  @Test func `hosts that find an expired token make only one refresh`() async throws {
    try await SharedAccount.running { account in
      for _ in 1...5 {
        let hosts = try await [account.host(), account.host(), account.host(), account.host()]
        try await store(account.server).expire("a")
        let fresh = try await [account.host(), account.host(), account.host(), account.host()]
        let before = account.sandbox.requests(to: .token).count
        let tokens = try await withThrowingTaskGroup(of: String.self) { group in
          for host in fresh { group.addTask { try await host.token().accessToken } }
          return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(tokens.count == 1)
        #expect(account.sandbox.requests(to: .token).count == before + 1)
        withExtendedLifetime(hosts) {}
      }
      #expect(account.sandbox.refreshTokenReuses == 0)
      let stored = try await store(account.server).load("a")
      #expect(stored?.token.refreshToken == account.latestRefreshToken)
    }
  }

  @Test func `a host that waits for a lease returns the new token before the lease is released`()
    async throws
  {
    try await SharedAccount.running { account in
      let other = store(account.server)
      try await other.expire("a")
      let lease = try #require(try await other.lease("a"))
      let host = try await account.host()
      let waiting = Task { try await host.token() }
      let newer = try await account.replaceToken()
      #expect(try await waiting.value == newer)
      #expect(try await store(account.server).lease("a") == nil)
      lease.release()
      #expect(account.sandbox.requests(to: .token).count == 1, "only the sign-in sent a request")
    }
  }

  @Test func `after flush no lease is left`() async throws {
    try await SharedAccount.running { account in
      try await store(account.server).expire("a")
      let host = try await account.host()
      _ = try await host.token()
      try await host.flush()
      #expect(try await account.server.run("SELECT count(*) FROM sequencing_oauth.leases") == "0")
    }
  }

  @Test func `flush waits until the database has ended the lease`() async throws {
    try await SharedAccount.running { account in
      let (server, store) = (account.server, store(account.server))
      let lease = try #require(try await store.lease("a"))
      // Other sessions may read the table but not write to it. The lock ends one second after the
      // release begins to wait for it.
      async let slow = server.run(
        """
        BEGIN;
        LOCK TABLE sequencing_oauth.leases IN SHARE MODE;
        \(PostgreSQLServer.untilAnotherWaits(for: "relation = 'sequencing_oauth.leases'::regclass"))
        SELECT pg_sleep(1);
        COMMIT
        """)
      try await eventually("the table is locked") {
        try await server.run(
          """
          SELECT count(*) FROM pg_locks WHERE mode = 'ShareLock' AND granted
            AND relation = 'sequencing_oauth.leases'::regclass
          """) == "1"
      }
      lease.release()
      await store.flush()
      #expect(try await server.run("SELECT count(*) FROM sequencing_oauth.leases") == "0")
      _ = try await slow
    }
  }

  @Test func `a late refresh returns the token that another host saved in the meantime`()
    async throws
  {
    try await SharedAccount.running { account in
      let (host, late, answer) = try await account.heldRefresh()
      let newer = try await account.replaceToken()
      answer.open()
      #expect(try await late.value == newer)
      #expect(host.currentToken == newer)
      #expect(try await store(account.server).load("a")?.token == newer)
    }
  }

  @Test func `a refresh that ends after a sign-out on another host saves nothing`() async throws {
    try await SharedAccount.running { account in
      let (host, late, answer) = try await account.heldRefresh()
      try await store(account.server).erase("a")
      answer.open()
      let error = await #expect(throws: SQOAuthError.self) { try await late.value }
      #expect(error?.code == .notAuthorized)
      #expect(host.currentToken == nil)
      #expect(try await store(account.server).list() == [])
    }
  }

  @Test func `a refresh that ends after a sign-out in its own process saves nothing`()
    async throws
  {
    try await SharedAccount.running { account in
      let own = store(account.server)
      let (host, late, answer) = try await account.heldRefresh(in: own)
      try await AccountManager(store: own).remove(id: "a")
      answer.open()
      let error = await #expect(throws: SQOAuthError.self) { try await late.value }
      #expect(error?.code == .notAuthorized)
      #expect(host.currentToken == nil)
      #expect(try await store(account.server).list() == [])
    }
  }

  @Test func `a refresh that ends after a new sign-in in its own process returns the new token`()
    async throws
  {
    try await SharedAccount.running { account in
      let own = store(account.server)
      let (host, late, answer) = try await account.heldRefresh(in: own)
      let newer = try await account.host(in: own).signIn().accessToken
      answer.open()
      #expect(try await late.value.accessToken == newer)
      #expect(host.currentToken?.accessToken == newer)
      #expect(try await store(account.server).load("a")?.token.accessToken == newer)
      #expect(account.sandbox.refreshTokenReuses == 0)
    }
  }

  @Test func `a host saves its new token even if the database goes back during the refresh`()
    async throws
  {
    try await SharedAccount.running { account in
      let columns = "version, key_number, value, server, due"
      try await account.server.run(
        "CREATE TABLE backup AS SELECT \(columns) FROM sequencing_oauth.accounts")
      _ = try await account.host().refresh()
      let (host, refresh, answer) = try await account.heldRefresh()
      try await account.server.run(
        """
        UPDATE sequencing_oauth.accounts SET (\(columns)) = (SELECT \(columns) FROM backup)
        """)
      answer.open()
      let fresh = try await refresh.value
      #expect(try await store(account.server).load("a")?.token == fresh)
      #expect(host.currentToken == fresh)
      #expect(account.sandbox.refreshTokenReuses == 0)
    }
  }

  /// The table of keys may be restored, so the token is not lost.
  @Test func `a host whose database has lost its key keeps the new token, and reports the reason`()
    async throws
  {
    try await SharedAccount.running { account in
      let (host, refresh, answer) = try await account.heldRefresh()
      try await account.server.run(
        """
        ALTER TABLE sequencing_oauth.accounts DROP CONSTRAINT accounts_key_number_fkey;
        CREATE TABLE lost AS SELECT * FROM sequencing_oauth.keys;
        DELETE FROM sequencing_oauth.keys
        """)
      answer.open()
      let fresh = try await refresh.value
      await failure(.storeDamaged) { try await host.flush() }
      try await account.server.run("INSERT INTO sequencing_oauth.keys SELECT * FROM lost")
      try await host.flush()
      #expect(try await store(account.server).load("a")?.token == fresh)
    }
  }

  @Test func `a host refreshes with its newest token even if the database has lost that token`()
    async throws
  {
    try await SharedAccount.running { account in
      let host = try await account.host()
      let columns = "version, key_number, value, server, due"
      try await account.server.run(
        "CREATE TABLE backup AS SELECT \(columns) FROM sequencing_oauth.accounts")
      let newest = try await host.refresh()
      try await account.server.run(
        """
        UPDATE sequencing_oauth.accounts SET (\(columns)) = (SELECT \(columns) FROM backup)
        """)
      let next = try await host.refresh()
      #expect(next.accessToken != newest.accessToken)
      #expect(account.sandbox.refreshTokenReuses == 0)
      #expect(try await store(account.server).load("a")?.token.refreshToken == next.refreshToken)
    }
  }

  @Test func `a host restores a lost token as soon as it notices the loss`() async throws {
    try await SharedAccount.running { account in
      let (host, store) = (try await account.host(), store(account.server))
      let old = try #require(try await store.load("a"))
      let newest = try await host.refresh()
      // Plays a failover that lost the newest token: the database has and announces an older
      // record.
      try await store.save(old)
      try await eventually("the database has the newest token again") {
        try await store.load("a")?.token == newest
      }
      #expect(account.sandbox.refreshTokenReuses == 0)
    }
  }

  /// The database ends before the authorization server answers, so the new token cannot be saved at
  /// once.
  @Test func `a database that restarts during a refresh loses no token`() async throws {
    try await SharedAccount.running { account in
      let (_, refresh, answer) = try await account.heldRefresh()
      account.server.kill()
      answer.open()
      try await account.server.restart()
      let fresh = try await refresh.value
      #expect(try await store(account.server).load("a")?.token == fresh)
      #expect(account.sandbox.refreshTokenReuses == 0)
    }
  }
}
