import Foundation
import LoopbackSupport
import OAuthSandbox
import ProgramSupport
import SequencingOAuth
import SequencingOAuthPostgreSQL
import TestSupport
import Testing

@testable import SQBasics

/// Refreshes during which one database request fails.
///
/// There is a refresh for each database request that can fail. The authorization server accepts
/// each refresh token once.
@Suite(.requires(.postgreSQL), .timeLimit(.minutes(10))) struct EachStatementTests {
  /// A host with its own relay and with an account whose token has expired.
  private final class Host: Sendable {
    let relay: TCPRelay
    private let id: String
    private let manager: AccountManager
    private let isStored = Locked(false)
    /// How long a call waits for the database.
    ///
    /// The time is long enough for a slow machine.
    static let limit = Duration.seconds(5)

    init(_ id: String, _ server: PostgreSQLServer) throws {
      self.id = id
      relay = try TCPRelay(to: server.port)
      manager = AccountManager(
        store: PostgreSQLTokenStore(
          connection: server.connection(
            through: relay.port, parameters: ["connect_timeout": "2"]),
          key: .testKey, connections: 1, limit: Self.limit))
    }

    /// Gets a token, perhaps after several calls, and waits until it is stored.
    func refresh(_ accounts: KeptAccounts) async throws {
      let module = try await eventually("\(id) has a module", within: .seconds(250)) {
        try? await manager.account(accounts.configuration, id: id)
      }
      let token = try await eventually("\(id) is refreshed", within: .seconds(250)) {
        try? await module.token()
      }
      try await eventually("\(id) is stored", within: .seconds(250)) {
        try? await module.flush()
        return (try? await accounts.open().load(id))?.token == token
      }
      isStored.withLock { $0 = true }
    }

    /// Waits for the fault, and returns `false` if the refresh ended without it.
    func meetsFault() async throws -> Bool {
      try await eventually("\(id) meets its fault", within: .seconds(250)) {
        !relay.isFaultExpected || isStored.withLock { $0 }
      }
      return !relay.isFaultExpected
    }

    /// Waits until a call fails because the database was silent for the whole time limit.
    func givesUp() async throws {
      try await eventually("\(id) gives up", within: .seconds(250)) { relay.isLeft }
    }
  }

  /// The accounts that are refreshed without a fault.
  private static let undisturbed = ["first", "second", "third", "fourth", "fifth"]

  /// Refreshes one account for each database request of a refresh, on a host of its own and with
  /// the fault `kind` at that request.
  ///
  /// `fault` runs during each of the refreshes.
  private func forEachRequest(
    _ fault: @escaping @Sendable (Host, PostgreSQLServer) async throws -> Void,
    _ kind: TCPRelay.Fault
  ) async throws {
    try await PostgreSQLServer.running { server in
      try await KeptAccounts.with(.seconds(3600), { DatabaseTests.store(server) }) { accounts in
        try await accounts.add(Self.undisturbed, expiringAfter: -1)
        // On a slow machine, a host makes more requests.
        var counts: [Int] = []
        for id in Self.undisturbed {
          let host = try Host(id, server)
          try await host.refresh(accounts)
          counts.append(host.relay.requests)
        }
        let count = try #require(counts.min())
        #expect(count > 15)
        try await accounts.add((1...count).map { "request \($0)" }, expiringAfter: -1)
        let met = try await withThrowingTaskGroup(of: Bool.self) { group in
          var met = 0
          for number in 1...count {
            // Twelve hosts run at a time; most of them wait.
            if number > 12, try await group.next() == true { met += 1 }
            group.addTask {
              let host = try Host("request \(number)", server)
              host.relay.expect(kind, atRequest: number)
              async let refreshed: Void = host.refresh(accounts)
              try await fault(host, server)
              try await refreshed
              return !host.relay.isFaultExpected
            }
          }
          for try await isMet in group where isMet { met += 1 }
          return met
        }
        // The last requests announce the change, perhaps after the refresh, so their faults may not
        // occur.
        #expect(met > count - 5)
        // Each account was refreshed once and is still signed in.
        for record in try await accounts.open().all() {
          let token = try #require(record.token.refreshToken)
          #expect(accounts.sandbox.latestRefreshToken(inFamilyOf: token) == token, "\(record.id)")
          #expect(accounts.sandbox.isActive(token), "\(record.id)")
        }
        #expect(accounts.sandbox.refreshTokenReuses == 0)
        #expect(accounts.refreshes == count + Self.undisturbed.count)
      }
    }
  }

  @Test func `a refresh survives a request that does not reach the database`() async throws {
    try await forEachRequest({ _, _ in }, .requestIsLost)
  }

  @Test func `a refresh survives a lost answer of the database`() async throws {
    try await forEachRequest({ _, _ in }, .answerIsLost)
  }

  @Test func `a refresh survives if an administrator ends the database session`() async throws {
    try await forEachRequest(
      { host, server in
        if try await host.meetsFault() { try await server.terminateSessions() }
        host.relay.speakAgain()
      }, .requestWaits)
  }

  @Test func `a refresh succeeds if the network holds a request and delivers it late`() async throws
  {
    try await forEachRequest(
      { host, _ in
        if try await host.meetsFault() { try await host.givesUp() }
        host.relay.speakAgain()
      }, .requestWaits)
  }

  @Test func `a refresh succeeds if the network holds a request and then ends the connection`()
    async throws
  {
    try await forEachRequest(
      { host, _ in
        if try await host.meetsFault() { try await host.givesUp() }
        host.relay.dropConnections()
        host.relay.speakAgain()
      }, .requestWaits)
  }
}
