import Foundation
import ProgramSupport
import SQBasics
import SequencingOAuth
import TestSupport
import Testing

@testable import SequencingOAuthPostgreSQL

/// Leases: only one host at a time refreshes an account, and a late host changes nothing.
@Suite(.requires(.postgreSQL), .timeLimit(.minutes(2))) struct PostgreSQLLeaseTests {
  /// Two hosts with one database, and an account that both know.
  struct Hosts {
    let server: PostgreSQLServer
    let one: PostgreSQLTokenStore
    let two: PostgreSQLTokenStore
    let old = record("a", token: SQToken(accessToken: "old", refreshToken: "r0"))
    let new = record("a", token: SQToken(accessToken: "new", refreshToken: "r1"))
    let newest = record("a", token: SQToken(accessToken: "newest", refreshToken: "r2"))

    init(_ server: PostgreSQLServer) async throws {
      self.server = server
      (one, two) = (store(server), store(server))
      try await one.save(old)
    }

    /// Expires all leases, as after a long wait in which no holder extended its lease.
    func letLeasesLapse() async throws {
      try await server.run(
        """
        UPDATE sequencing_oauth.leases SET until = clock_timestamp(),
          timeline = timeline || CASE WHEN sent THEN '?' ELSE '' END
        """)
    }

    /// Lets all leases lapse until the second host takes over the first host's lease.
    ///
    /// The holder may extend its lease just after it has lapsed.
    func takeOver() async throws -> AccountLease {
      try await eventually("the second host has the lease") {
        try await letLeasesLapse()
        return try await two.lease("a")
      }
    }

    /// Makes each lease end `seconds` earlier, as if the server's clock had jumped ahead.
    func moveClock(bySeconds seconds: Int) async throws {
      try await server.run(
        "UPDATE sequencing_oauth.leases SET until = until - interval '\(seconds) s'")
    }

    /// Waits until there is no lease.
    func released() async throws {
      try await eventually("the leases are released") {
        try await server.run("SELECT count(*) FROM sequencing_oauth.leases") == "0"
      }
    }
  }

  @Test func `only one host has an account's lease until the lease is released`() async throws {
    try await PostgreSQLServer.running { server in
      let hosts = try await Hosts(server)
      let lease = try #require(try await hosts.one.lease("a"))
      #expect(try await hosts.one.lease("a") == nil)
      #expect(try await hosts.two.lease("a") == nil)
      #expect(await hosts.two.leaseHolder("a")?.contains("process \(getpid()) on host") == true)
      #expect(try await hosts.two.lease("b") != nil)
      lease.release()
      let second = try await eventually("the lease is free") { try await hosts.two.lease("a") }
      second.release()
    }
  }

  @Test func `an expired lease is taken over, and its old holder sends no request`() async throws {
    try await PostgreSQLServer.running { server in
      let hosts = try await Hosts(server)
      let lease = try #require(try await hosts.one.lease("a"))
      let known = try #require(try await hosts.one.load("a"))
      let second = try await hosts.takeOver()
      let error = try await #require(throws: SQOAuthError.self) {
        try await hosts.one.reserve("a", replacing: known)
      }
      #expect(error.code == .accountChanged)
      // The late release must not end the new holder's lease.
      lease.release()
      _ = try await hosts.two.load("a")
      let reservation = try await hosts.two.reserve("a", replacing: hosts.old)
      await reservation.writeAhead(hosts.new)
      second.release()
      try await hosts.released()
      #expect(try await hosts.one.load("a") == hosts.new)
    }
  }

  /// For example, a sign-in holds the lease while the user is in the browser.
  @Test func `a host extends an unmarked lease for as long as it uses the lease`() async throws {
    try await PostgreSQLServer.running { server in
      let hosts = try await Hosts(server)
      let lease = try #require(try await hosts.one.lease("a"))
      for _ in 1...2 {
        try await hosts.letLeasesLapse()
        try await eventually("the holder extends its lease") {
          try await server.run(
            "SELECT until > clock_timestamp() AND NOT sent FROM sequencing_oauth.leases") == "t"
        }
      }
      #expect(try await hosts.two.lease("a") == nil)
      lease.release()
      try await hosts.released()
    }
  }

  @Test func `a late extension neither revives a released lease nor takes a lease back`()
    async throws
  {
    try await PostgreSQLServer.running { server in
      let hosts = try await Hosts(server)
      let takes = { (ticket: String) in
        try await hosts.one.database.use { table throws(SQOAuthError) in
          try await table.takeLease("a", ticket: Data(ticket.utf8))
        }
      }
      let keeps = { (ticket: String) in
        try await hosts.one.database.use { table throws(SQOAuthError) in
          try await table.keepLease("a", ticket: Data(ticket.utf8))
        }
      }
      #expect(try await takes("mine"))
      try await server.run("DELETE FROM sequencing_oauth.leases")
      try await keeps("mine")
      #expect(try await server.run("SELECT count(*) FROM sequencing_oauth.leases") == "0")
      #expect(try await takes("another"))
      try await hosts.letLeasesLapse()
      try await keeps("mine")
      let isOther = "SELECT ticket = 'another', until <= now() FROM sequencing_oauth.leases"
      #expect(try await server.run(isOther) == "t|t")
    }
  }

  @Test func `a lease is extended until it is released and no new token is unsaved`() throws {
    let held = HeldLeases()
    let ticket = try #require(held.begin("a"))
    #expect(held.isKept("a", ticket))
    let row = HeldLeases.Row(version: 1, record: record("a", token: SQToken(accessToken: "old")))
    held.reserved("a", ticket, row)
    held.received("a", ticket)
    #expect(!held.release("a", ticket))
    #expect(held.isKept("a", ticket))
    // No session tries to save the token any more.
    held.received("a", ticket, at: .now - .seconds(LeaseStatements.sentSeconds))
    #expect(!held.isKept("a", ticket))
    #expect(held.begin("a") == ticket && held.isKept("a", ticket))
    #expect(held.release("a", ticket))
    held.end("a", ticket)
    #expect(!held.isKept("a", ticket))
  }

  @Test func `a host sends no refresh request for a record that another host has changed`()
    async throws
  {
    try await PostgreSQLServer.running { server in
      let hosts = try await Hosts(server)
      _ = try #require(try await hosts.one.lease("a"))
      _ = try await hosts.one.load("a")
      // A sign-in on another host does not wait forever for the lease: it saves without the lease.
      try await hosts.two.save(hosts.new)
      let error = try await #require(throws: SQOAuthError.self) {
        try await hosts.one.reserve("a", replacing: hosts.old)
      }
      #expect(error.code == .accountChanged)
    }
  }

  /// Tests each condition of the database statement alone, without the checks that a store makes
  /// first.
  @Test func `only a lease's holder with the current record can mark the refresh request as sent`()
    async throws
  {
    try await PostgreSQLServer.running { server in
      let hosts = try await Hosts(server)
      let version = try #require(Int64(try await server.version("a")))
      let marks = { (ticket: String, version: Int64) in
        try await hosts.one.database.use { table throws(SQOAuthError) in
          try await table.markSent("a", ticket: Data(ticket.utf8), version: version)
        }
      }
      #expect(try await !marks("mine", version), "no mark without a lease")
      let takes = { (ticket: String) in
        try await hosts.one.database.use { table throws(SQOAuthError) in
          try await table.takeLease("a", ticket: Data(ticket.utf8))
        }
      }
      #expect(try await takes("mine"))
      #expect(try await !takes("another"), "a lease has one holder")
      #expect(try await !marks("another", version), "no mark by another holder")
      #expect(try await !marks("mine", version + 1), "no mark for another version of the record")
      #expect(try await server.run("SELECT sent FROM sequencing_oauth.leases") == "f")
      #expect(try await marks("mine", version))
      try await server.run("DELETE FROM sequencing_oauth.accounts")
      #expect(try await !marks("mine", version), "no mark without a record")
    }
  }

  @Test func `a save requires the record's current version but no lease`() async throws {
    try await PostgreSQLServer.running { server in
      let hosts = try await Hosts(server)
      let version = try #require(Int64(try await server.version("a")))
      let replaces = { (version: Int64, record: AccountRecord) in
        try await hosts.one.database.use { table throws(SQOAuthError) in
          var sealed: SealedRecord?
          return try await table.replace(
            version: version, record, sealed: &sealed, ticket: Data("nobody's".utf8))
        }
      }
      _ = try #require(try await hosts.two.lease("a"))
      #expect(try await !replaces(version - 1, hosts.new))
      #expect(try await !replaces(version + 1, hosts.new))
      #expect(try await hosts.two.load("a") == hosts.old)
      #expect(try await replaces(version, hosts.new))
      #expect(try await !replaces(version, hosts.newest), "no second replacement of a version")
      #expect(try await hosts.two.load("a") == hosts.new)
    }
  }

  /// A crash of the server may lose a lease that was just taken.
  @Test func `a lease that the database lost is restored to its holder`() async throws {
    try await PostgreSQLServer.running { server in
      let hosts = try await Hosts(server)
      let lease = try #require(try await hosts.one.lease("a"))
      _ = try await hosts.one.load("a")
      try await server.run("DELETE FROM sequencing_oauth.leases")
      let reservation = try await hosts.one.reserve("a", replacing: hosts.old)
      #expect(try await hosts.two.lease("a") == nil)
      #expect(try await server.run("SELECT sent FROM sequencing_oauth.leases") == "t")
      await reservation.writeAhead(hosts.new)
      lease.release()
    }
  }

  @Test func `a lost lease that another host has taken since is not restored to its first holder`()
    async throws
  {
    try await PostgreSQLServer.running { server in
      let hosts = try await Hosts(server)
      _ = try #require(try await hosts.one.lease("a"))
      _ = try await hosts.one.load("a")
      try await server.run("DELETE FROM sequencing_oauth.leases")
      _ = try #require(try await hosts.two.lease("a"))
      await failure(.accountChanged) { try await hosts.one.reserve("a", replacing: hosts.old) }
    }
  }

  @Test func `an account id that is too long for a row is rejected before a sign-in`() async throws
  {
    try await PostgreSQLServer.running { server in
      let store = store(server)
      _ = try await store.reserve(String(repeating: "a", count: 2048), replacing: nil)
      await failure(.invalidConfiguration) {
        try await store.reserve(String(repeating: "a", count: 2049), replacing: nil)
      }
    }
  }

  @Test func `a lease lasts longer while its holder waits for the token response`() async throws {
    try await PostgreSQLServer.running { server in
      let hosts = try await Hosts(server)
      _ = try #require(try await hosts.one.lease("a"))
      let left = "SELECT extract(epoch FROM until - clock_timestamp()) FROM sequencing_oauth.leases"
      let unmarked = try #require(Double(try await server.run(left)))
      #expect(unmarked > 0 && unmarked <= 10)
      _ = try await hosts.one.load("a")
      let reservation = try await hosts.one.reserve("a", replacing: hosts.old)
      let marked = try #require(Double(try await server.run(left)))
      #expect(marked > 100 && marked <= 160)
      await reservation.writeAhead(hosts.new)
      let eased = try #require(Double(try await server.run(left)))
      #expect(eased <= 10)
    }
  }

  @Test func `a late save by a host that lost its lease does not replace the new holder's token`()
    async throws
  {
    try await PostgreSQLServer.running { server in
      let hosts = try await Hosts(server)
      _ = try #require(try await hosts.one.lease("a"))
      _ = try await hosts.one.load("a")
      let late = try await hosts.one.reserve("a", replacing: hosts.old)
      _ = try await hosts.takeOver()
      _ = try await hosts.two.load("a")
      let reservation = try await hosts.two.reserve("a", replacing: hosts.old)
      await reservation.writeAhead(hosts.newest)
      await late.writeAhead(hosts.new)
      let error = try await #require(throws: SQOAuthError.self) {
        try await hosts.one.save(hosts.new)
      }
      #expect(error.code == .accountChanged)
      #expect(try await hosts.two.load("a") == hosts.newest)
    }
  }

  /// Any part of a program may read an account while its token is refreshed.
  @Test func `a host that reads a newer record during its refresh still cannot overwrite it`()
    async throws
  {
    try await PostgreSQLServer.running { server in
      let hosts = try await Hosts(server)
      _ = try #require(try await hosts.one.lease("a"))
      _ = try await hosts.one.load("a")
      let late = try await hosts.one.reserve("a", replacing: hosts.old)
      _ = try await hosts.takeOver()
      _ = try await hosts.two.load("a")
      try await hosts.two.save(hosts.newest)
      #expect(try await hosts.one.load("a") == hosts.newest)
      await late.writeAhead(hosts.new)
      await failure(.accountChanged) { try await hosts.one.save(hosts.new) }
      #expect(try await hosts.two.load("a") == hosts.newest)
    }
  }

  /// The server rejected a host's token, and another host saved a token before the erasure.
  @Test func `erasing a rejected token does not erase another host's new token`() async throws {
    try await PostgreSQLServer.running { server in
      let hosts = try await Hosts(server)
      try await hosts.two.save(hosts.newest)
      try await hosts.one.erase("a", ifTokenIsIn: [hosts.old.token, hosts.new.token])
      #expect(try await hosts.two.load("a") == hosts.newest)
      try await hosts.one.erase("a", ifTokenIsIn: [hosts.old.token, hosts.newest.token])
      #expect(try await hosts.two.load("a") == nil)
      try await hosts.one.erase("a", ifTokenIsIn: [hosts.old.token])
    }
  }

  /// The answer to the first attempt was lost, and the second attempt seals the token again.
  @Test func `a repeated save recognizes its own earlier save`() async throws {
    try await PostgreSQLServer.running { server in
      let hosts = try await Hosts(server)
      let before = try #require(Int64(try await server.version("a")))
      let replaces = { (record: AccountRecord) in
        try await hosts.one.database.use { table throws(SQOAuthError) in
          var sealed: SealedRecord?
          return try await table.replace(
            version: before, record, sealed: &sealed, ticket: Data("ticket".utf8))
        }
      }
      #expect(try await replaces(hosts.new))
      #expect(try await replaces(hosts.new))
      #expect(try await !replaces(hosts.newest))
      #expect(try await server.version("a") == "\(before + 1)")
      #expect(try await hosts.two.load("a") == hosts.new)
    }
  }

  @Test func `a late refresh does not sign a signed-out user in again`() async throws {
    try await PostgreSQLServer.running { server in
      let hosts = try await Hosts(server)
      _ = try #require(try await hosts.one.lease("a"))
      _ = try await hosts.one.load("a")
      let reservation = try await hosts.one.reserve("a", replacing: hosts.old)
      try await hosts.two.erase("a")
      await reservation.writeAhead(hosts.new)
      await #expect(throws: SQOAuthError.self) { try await hosts.one.save(hosts.new) }
      #expect(try await hosts.two.load("a") == nil)
    }
  }

  @Test func `a late refresh does not replace a new sign-in after a sign-out`()
    async throws
  {
    try await PostgreSQLServer.running { server in
      let hosts = try await Hosts(server)
      _ = try #require(try await hosts.one.lease("a"))
      _ = try await hosts.one.load("a")
      let late = try await hosts.one.reserve("a", replacing: hosts.old)
      let version = try await server.version("a")
      try await hosts.two.erase("a")
      let signedIn = AccountRecord(
        id: "a", clientID: "client", session: "another", token: SQToken(accessToken: "s"))
      try await hosts.two.save(signedIn)
      // A host that got no notification compares the versions.
      #expect(try await server.version("a") != version)
      await late.writeAhead(hosts.new)
      await failure(.accountChanged) { try await hosts.one.save(hosts.new) }
      #expect(try await hosts.two.load("a") == signedIn)
    }
  }

  @Test func `a new sign-in replaces a record that another host has just changed`() async throws {
    try await PostgreSQLServer.running { server in
      let hosts = try await Hosts(server)
      _ = try #require(try await hosts.one.lease("a"))
      _ = try await hosts.one.load("a")
      try await hosts.two.save(hosts.new)
      let signedIn = AccountRecord(
        id: "a", clientID: "client", session: "another", token: SQToken(accessToken: "s"))
      try await hosts.one.save(signedIn)
      #expect(try await hosts.two.load("a") == signedIn)
    }
  }

  @Test func `a jump of the database's clock does not end the lease of a refreshing host`()
    async throws
  {
    try await PostgreSQLServer.running { server in
      let hosts = try await Hosts(server)
      let lease = try #require(try await hosts.one.lease("a"))
      _ = try await hosts.one.load("a")
      let reservation = try await hosts.one.reserve("a", replacing: hosts.old)
      try await hosts.moveClock(bySeconds: 200)
      #expect(try await hosts.two.lease("a") == nil)
      let left = "SELECT extract(epoch FROM until - clock_timestamp()) FROM sequencing_oauth.leases"
      try await eventually("the holder keeps its lease") {
        let isFree = try await hosts.two.lease("a") != nil
        #expect(!isFree)
        return (Double(try await server.run(left)) ?? 0) > 100
      }
      await reservation.writeAhead(hosts.new)
      try await hosts.one.save(hosts.new)
      reservation.release()
      lease.release()
      let second = try await eventually("the lease is free") { try await hosts.two.lease("a") }
      #expect(try await hosts.two.load("a") == hosts.new)
      second.release()
    }
  }

  @Test func `a killed process's lease ends within 10 s after another host asks for it`()
    async throws
  {
    try await PostgreSQLServer.running { server in
      let hosts = try await Hosts(server)
      // A killed holder's lease: no process renews it.
      try await server.run(
        """
        INSERT INTO sequencing_oauth.leases SELECT 'a'::bytea, 't', 'killed',
          clock_timestamp() - interval '1 s', true,
          left(pg_walfile_name(pg_current_wal_lsn()), 8)
        """)
      #expect(try await store(server).lease("a") == nil)
      let left = "SELECT extract(epoch FROM until - clock_timestamp()) FROM sequencing_oauth.leases"
      let doubt = try #require(Double(try await server.run(left)))
      #expect(doubt > 0 && doubt <= 10)
      // A busy machine may need more than 10 s for the second attempt.
      try await hosts.moveClock(bySeconds: -60)
      // The first attempt to get the lease extended it; the second attempt does not.
      #expect(try await store(server).lease("a") == nil)
      try await hosts.moveClock(bySeconds: 70)
      #expect(try await store(server).lease("a") != nil)
    }
  }

  /// Another host doubts the lease because the clock jumped, and then the holder saves its token.
  @Test func `a lease that was doubted before the save of the new token can be taken over`()
    async throws
  {
    try await PostgreSQLServer.running { server in
      let hosts = try await Hosts(server)
      _ = try #require(try await hosts.one.lease("a"))
      _ = try await hosts.one.load("a")
      let reservation = try await hosts.one.reserve("a", replacing: hosts.old)
      try await server.run("UPDATE sequencing_oauth.leases SET timeline = timeline || '?'")
      await reservation.writeAhead(hosts.new)
      #expect(
        try await server.run("SELECT sent, timeline LIKE '%?' FROM sequencing_oauth.leases")
          == "f|f")
      _ = try await hosts.takeOver()
    }
  }

  /// Earlier versions left such a lease if the holder was killed between the save and the release.
  @Test func `an unmarked lease that seems to be in doubt ends like any other`() async throws {
    try await PostgreSQLServer.running { server in
      let hosts = try await Hosts(server)
      try await server.run(
        """
        INSERT INTO sequencing_oauth.leases SELECT 'a'::bytea, 't', 'killed',
          clock_timestamp() - interval '1 s', false,
          left(pg_walfile_name(pg_current_wal_lsn()), 8) || '?'
        """)
      #expect(try await hosts.two.lease("a") == nil)
      try await hosts.moveClock(bySeconds: 20)
      #expect(try await hosts.two.lease("a") != nil)
    }
  }

  @Test func `an expired lease is taken over at once if no refresh request was sent`()
    async throws
  {
    try await PostgreSQLServer.running { server in
      let hosts = try await Hosts(server)
      _ = try #require(try await hosts.one.lease("a"))
      let known = try #require(try await hosts.one.load("a"))
      _ = try await hosts.takeOver()
      await failure(.accountChanged) { try await hosts.one.reserve("a", replacing: known) }
    }
  }

  /// The new primary's clock may differ, so the old times are meaningless there.
  @Test func `after a failover a lease lasts its full time again`() async throws {
    try await PostgreSQLServer.running { server in
      let hosts = try await Hosts(server)
      _ = try #require(try await hosts.one.lease("a"))
      _ = try await hosts.one.load("a")
      _ = try await hosts.one.reserve("a", replacing: hosts.old)
      try await server.run(
        "UPDATE sequencing_oauth.leases SET timeline = '00000000', until = '-infinity'")
      #expect(try await hosts.two.lease("a") == nil)
      let left = "SELECT extract(epoch FROM until - clock_timestamp()) FROM sequencing_oauth.leases"
      #expect(try #require(Double(try await server.run(left))) > 100)
    }
  }
}
