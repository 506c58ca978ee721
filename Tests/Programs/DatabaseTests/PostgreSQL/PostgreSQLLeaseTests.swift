import Foundation
import ProgramSupport
import SQBasics
import SequencingOAuth
import TestSupport
import Testing

@testable import SequencingOAuthPostgreSQL

/// One host at a time changes an account, and a late one changes nothing.
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

    /// Lets the time of all leases be over, as after a long wait in which no holder kept its own.
    func letLeasesLapse() async throws {
      try await server.run(
        """
        UPDATE sequencing_oauth.leases SET until = clock_timestamp(),
          timeline = timeline || CASE WHEN sent THEN '?' ELSE '' END
        """)
    }

    /// Moves the server's clock ahead, as the leases see it.
    func moveClock(bySeconds seconds: Int) async throws {
      try await server.run(
        "UPDATE sequencing_oauth.leases SET until = until - interval '\(seconds) s'")
    }

    /// Waits until no lease is left.
    func released() async throws {
      try await eventually("the leases are released") {
        try await server.run("SELECT count(*) FROM sequencing_oauth.leases") == "0"
      }
    }
  }

  @Test func `one host has the lease until it gives it back`() async throws {
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

  @Test func `a lease that lapsed is taken over, and its old holder sends nothing`() async throws {
    try await PostgreSQLServer.running { server in
      let hosts = try await Hosts(server)
      let lease = try #require(try await hosts.one.lease("a"))
      let known = try #require(try await hosts.one.load("a"))
      try await hosts.letLeasesLapse()
      let second = try #require(try await hosts.two.lease("a"))
      let error = try await #require(throws: SQOAuthError.self) {
        try await hosts.one.reserve("a", replacing: known)
      }
      #expect(error.code == .accountChanged)
      // The late release must not end the lease of the new holder.
      lease.release()
      _ = try await hosts.two.load("a")
      let room = try await hosts.two.reserve("a", replacing: hosts.old)
      await room.land(hosts.new)
      second.release()
      try await hosts.released()
      #expect(try await hosts.one.load("a") == hosts.new)
    }
  }

  @Test func `nothing is sent from a record that has changed`() async throws {
    try await PostgreSQLServer.running { server in
      let hosts = try await Hosts(server)
      _ = try #require(try await hosts.one.lease("a"))
      _ = try await hosts.one.load("a")
      // A sign-in on another host does not wait for ever.
      try await hosts.two.save(hosts.new)
      let error = try await #require(throws: SQOAuthError.self) {
        try await hosts.one.reserve("a", replacing: hosts.old)
      }
      #expect(error.code == .accountChanged)
    }
  }

  /// Each guard alone, below what keeps hosts from coming so far.
  @Test func `a mark needs the lease, the record's version and the newest key`() async throws {
    try await PostgreSQLServer.running { server in
      let hosts = try await Hosts(server)
      let version = try #require(Int64(try await server.version("a")))
      let marks = { (ticket: String, version: Int64) in
        try await hosts.one.database.use { table throws(SQOAuthError) in
          try await table.markSent("a", ticket: Data(ticket.utf8), version: version)
        }
      }
      #expect(try await !marks("mine", version), "without any lease")
      let takes = { (ticket: String) in
        try await hosts.one.database.use { table throws(SQOAuthError) in
          try await table.takeLease("a", ticket: Data(ticket.utf8), holder: "test")
        }
      }
      #expect(try await takes("mine"))
      #expect(try await !takes("another"), "a lease has one holder")
      #expect(try await !marks("another", version), "of another holder")
      #expect(try await !marks("mine", version + 1), "of another record")
      #expect(try await server.run("SELECT sent FROM sequencing_oauth.leases") == "f")
      #expect(try await marks("mine", version))
      try await server.run("DELETE FROM sequencing_oauth.accounts")
      #expect(try await !marks("mine", version), "of no record")
    }
  }

  @Test func `a save needs the record's version, and no lease`() async throws {
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
      #expect(try await !replaces(version, hosts.newest), "replaced already")
      #expect(try await hosts.two.load("a") == hosts.new)
    }
  }

  /// A lease that was just taken does not survive a crash of the server.
  @Test func `a lease that the server has lost is taken once more`() async throws {
    try await PostgreSQLServer.running { server in
      let hosts = try await Hosts(server)
      let lease = try #require(try await hosts.one.lease("a"))
      _ = try await hosts.one.load("a")
      try await server.run("DELETE FROM sequencing_oauth.leases")
      let room = try await hosts.one.reserve("a", replacing: hosts.old)
      #expect(try await hosts.two.lease("a") == nil)
      #expect(try await server.run("SELECT sent FROM sequencing_oauth.leases") == "t")
      await room.land(hosts.new)
      lease.release()
    }
  }

  @Test func `a lease that the server has lost, and another host has, is not taken`() async throws {
    try await PostgreSQLServer.running { server in
      let hosts = try await Hosts(server)
      _ = try #require(try await hosts.one.lease("a"))
      _ = try await hosts.one.load("a")
      try await server.run("DELETE FROM sequencing_oauth.leases")
      _ = try #require(try await hosts.two.lease("a"))
      await failure(.accountChanged) { try await hosts.one.reserve("a", replacing: hosts.old) }
    }
  }

  @Test func `an id that no row can have ends a sign-in before it begins`() async throws {
    try await PostgreSQLServer.running { server in
      let store = store(server)
      _ = try await store.reserve(String(repeating: "a", count: 2048), replacing: nil)
      await failure(.invalidConfiguration) {
        try await store.reserve(String(repeating: "a", count: 2049), replacing: nil)
      }
    }
  }

  @Test func `a marked lease holds longer than one without a mark`() async throws {
    try await PostgreSQLServer.running { server in
      let hosts = try await Hosts(server)
      _ = try #require(try await hosts.one.lease("a"))
      let left = "SELECT extract(epoch FROM until - clock_timestamp()) FROM sequencing_oauth.leases"
      let unmarked = try #require(Double(try await server.run(left)))
      #expect(unmarked > 0 && unmarked <= 10)
      _ = try await hosts.one.load("a")
      let room = try await hosts.one.reserve("a", replacing: hosts.old)
      let marked = try #require(Double(try await server.run(left)))
      #expect(marked > 100 && marked <= 160)
      await room.land(hosts.new)
      let eased = try #require(Double(try await server.run(left)))
      #expect(eased <= 10)
    }
  }

  @Test func `what a paused host brings late does not replace what its successor saved`()
    async throws
  {
    try await PostgreSQLServer.running { server in
      let hosts = try await Hosts(server)
      _ = try #require(try await hosts.one.lease("a"))
      _ = try await hosts.one.load("a")
      let late = try await hosts.one.reserve("a", replacing: hosts.old)
      try await hosts.letLeasesLapse()
      _ = try #require(try await hosts.two.lease("a"))
      _ = try await hosts.two.load("a")
      let room = try await hosts.two.reserve("a", replacing: hosts.old)
      await room.land(hosts.newest)
      await late.land(hosts.new)
      let error = try await #require(throws: SQOAuthError.self) {
        try await hosts.one.save(hosts.new)
      }
      #expect(error.code == .accountChanged)
      #expect(try await hosts.two.load("a") == hosts.newest)
    }
  }

  /// Any part of a program may read an account while its token is refreshed.
  @Test func `what another part of the program reads does not let a late token overwrite`()
    async throws
  {
    try await PostgreSQLServer.running { server in
      let hosts = try await Hosts(server)
      _ = try #require(try await hosts.one.lease("a"))
      _ = try await hosts.one.load("a")
      let late = try await hosts.one.reserve("a", replacing: hosts.old)
      try await hosts.letLeasesLapse()
      _ = try #require(try await hosts.two.lease("a"))
      _ = try await hosts.two.load("a")
      try await hosts.two.save(hosts.newest)
      #expect(try await hosts.one.load("a") == hosts.newest)
      await late.land(hosts.new)
      await failure(.accountChanged) { try await hosts.one.save(hosts.new) }
      #expect(try await hosts.two.load("a") == hosts.newest)
    }
  }

  /// The server refused the token of a host, and another host saved a token before the erasure.
  @Test func `a refused token's erasure leaves what another host has saved`() async throws {
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

  /// The answer to the first attempt was lost, and the second one seals the token again.
  @Test func `a save that is repeated recognizes what it has saved`() async throws {
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

  @Test func `a refresh that ends late does not bring back a user who signed out`() async throws {
    try await PostgreSQLServer.running { server in
      let hosts = try await Hosts(server)
      _ = try #require(try await hosts.one.lease("a"))
      _ = try await hosts.one.load("a")
      let room = try await hosts.one.reserve("a", replacing: hosts.old)
      try await hosts.two.erase("a")
      await room.land(hosts.new)
      await #expect(throws: SQOAuthError.self) { try await hosts.one.save(hosts.new) }
      #expect(try await hosts.two.load("a") == nil)
    }
  }

  @Test func `a refresh that ends late does not replace a new sign-in after a sign-out`()
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
      // A host to which no notice came compares the versions.
      #expect(try await server.version("a") != version)
      await late.land(hosts.new)
      await failure(.accountChanged) { try await hosts.one.save(hosts.new) }
      #expect(try await hosts.two.load("a") == signedIn)
    }
  }

  @Test func `a new sign-in replaces whatever the account has`() async throws {
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

  @Test func `a jump of the server's clock takes no lease from a host that waits for a token`()
    async throws
  {
    try await PostgreSQLServer.running { server in
      let hosts = try await Hosts(server)
      let lease = try #require(try await hosts.one.lease("a"))
      _ = try await hosts.one.load("a")
      let room = try await hosts.one.reserve("a", replacing: hosts.old)
      try await hosts.moveClock(bySeconds: 200)
      #expect(try await hosts.two.lease("a") == nil)
      let left = "SELECT extract(epoch FROM until - clock_timestamp()) FROM sequencing_oauth.leases"
      try await eventually("the holder keeps its lease") {
        let isFree = try await hosts.two.lease("a") != nil
        #expect(!isFree)
        return (Double(try await server.run(left)) ?? 0) > 100
      }
      await room.land(hosts.new)
      try await hosts.one.save(hosts.new)
      room.release()
      lease.release()
      let second = try await eventually("the lease is free") { try await hosts.two.lease("a") }
      #expect(try await hosts.two.load("a") == hosts.new)
      second.release()
    }
  }

  @Test func `a lease whose holder is gone ends after the doubt, also if no process stays`()
    async throws
  {
    try await PostgreSQLServer.running { server in
      let hosts = try await Hosts(server)
      // A holder that was killed: nobody keeps this lease.
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
      // Another doubt does not lengthen the time.
      #expect(try await store(server).lease("a") == nil)
      try await hosts.moveClock(bySeconds: 10)
      #expect(try await store(server).lease("a") != nil)
    }
  }

  @Test func `a lease without a mark is taken over at once, since its holder sends nothing`()
    async throws
  {
    try await PostgreSQLServer.running { server in
      let hosts = try await Hosts(server)
      _ = try #require(try await hosts.one.lease("a"))
      let known = try #require(try await hosts.one.load("a"))
      try await hosts.moveClock(bySeconds: 200)
      _ = try #require(try await hosts.two.lease("a"))
      await failure(.accountChanged) { try await hosts.one.reserve("a", replacing: known) }
    }
  }

  /// The new primary's clock may show another time, so the old times mean nothing there.
  @Test func `after a failover a lease has its whole time again`() async throws {
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
