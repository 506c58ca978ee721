import Foundation
import LoopbackSupport
import OAuthSandbox
import ProgramSupport
import SequencingOAuth
import SequencingOAuthPostgreSQL
import TestSupport
import Testing

/// Faults of a fleet's workers, of the network and of the database.
///
/// With `FLEET_ROTATIONS=10000` in the environment, each test makes at least 10000 refreshes and
/// has 100 accounts instead of 15.
@Suite(.requires(.postgreSQL), .timeLimit(.minutes(20))) struct FleetTests {
  /// The minimum number of refreshes in a test.
  private static let rotations =
    ProcessInfo.processInfo.environment["FLEET_ROTATIONS"].flatMap { Int($0) } ?? 60
  private static let accounts = rotations > 1000 ? 100 : 15
  private static let lifetime = Duration.seconds(3)

  /// Runs a fleet through one fault after another until the server has processed ``rotations``
  /// refreshes.
  private func run(
    on server: PostgreSQLServer, connection: String? = nil, starters: [[String]] = [[], [], []],
    atEnd store: () -> PostgreSQLServer? = { nil },
    fault: (Fleet, _ round: Int) async throws -> Void
  ) async throws {
    try await KeptAccounts.with(Self.lifetime, { DatabaseTests.store(server) }) { accounts in
      let fleet = try await Fleet(
        accounts, connection: connection ?? server.connection, count: Self.accounts,
        starters: starters)
      try await fleet.rotate(Self.accounts)
      var round = 0
      while fleet.rotations < Self.rotations {
        try await fault(fleet, round)
        try await fleet.rotate(Self.accounts)
        round += 1
      }
      for output in try await fleet.stop() { #expect(output.hasSuffix("stopped\n")) }
      try await fleet.check(DatabaseTests.store(store() ?? server))
    }
  }

  @Test func `a fleet of workers loses no sign-in when workers are suspended`() async throws {
    try await PostgreSQLServer.running { server in
      try await run(on: server) { fleet, round in
        // Meanwhile, the other workers make as many refreshes as there are accounts.
        try await fleet.suspend(round, during: Self.accounts)
      }
    }
  }

  @Test func `a fleet of workers loses no sign-in when database sessions end`() async throws {
    try await PostgreSQLServer.running { server in
      try await run(on: server) { _, _ in _ = try await server.terminateSessions() }
    }
  }

  @Test func `a fleet of workers loses no sign-in when the network falls silent`() async throws {
    try await PostgreSQLServer.running { server in
      let relay = try TCPRelay(to: server.port)
      try await run(
        on: server,
        connection: server.connection(
          through: relay.port, parameters: ["tcp_user_timeout": "1000", "connect_timeout": "2"])
      ) { _, round in
        if round.isMultiple(of: 2) { relay.goSilent() } else { relay.passThrough(.requests) }
        try await Task.sleep(for: .seconds(1))
        relay.speakAgain()
        relay.dropConnections()
      }
    }
  }

  @Test func `a fleet of workers loses no sign-in when the database is killed and restarted`()
    async throws
  {
    try await PostgreSQLServer.running { server in
      try await run(on: server) { _, _ in
        server.kill()
        try await server.restart()
      }
    }
  }

  @Test func `a fleet of workers loses no sign-in at a failover to the standby`() async throws {
    try await PostgreSQLServer.running { primary in
      let standby = try await PostgreSQLServer.start(standbyOf: primary)
      let both = primary.connection.replacing(
        "127.0.0.1:\(primary.port)", with: "127.0.0.1:\(primary.port),127.0.0.1:\(standby.port)")
      var isPromoted = false
      try await run(on: primary, connection: both, atEnd: { standby }) { _, _ in
        guard !isPromoted else { return }
        isPromoted = true
        primary.kill()
        try await standby.promote()
      }
      standby.close()
    }
  }

  @Test(
    .requires(.faketime),
    .disabled(if: isSanitized, "faketime cannot replace the clock under a sanitizer"))
  func `a fleet of workers loses no sign-in when clocks differ by ten minutes`() async throws {
    // faketime waits for the worker. It ignores SIGTERM, so that it does not end before the worker.
    func clock(_ offset: String) -> [String] {
      let script = #"trap "" TERM; exec faketime --exclude-monotonic -f "$0" "$@""#
      return ["sh", "-c", script, offset]
    }
    try await PostgreSQLServer.running { server in
      try await run(on: server, starters: [clock("+5m"), clock("-5m"), []]) { _, _ in }
    }
  }

  /// Each kill may lose the tokens that the worker was saving: those of at most eight accounts.
  ///
  /// There are so few kills that this limit stays below the number of accounts.
  @Test func `a killed worker loses at most the eight sign-ins that it may be refreshing`()
    async throws
  {
    try await PostgreSQLServer.running { server in
      try await run(on: server) { fleet, round in
        if round < (Self.accounts - 1) / 8 { try await fleet.kill(round) }
      }
    }
  }
}
