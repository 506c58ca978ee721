import Foundation
import ProgramSupport
import SequencingOAuth
import SequencingOAuthBackend
import SequencingOAuthPostgreSQL
import TestSupport
import Testing

/// Hosts that keep the accounts of one database fresh at an independent server.
///
/// The server ends a session when a refresh token is used twice.
@Suite(.requires(.glewlwyd), .requires(.postgreSQL)) struct GlewlwydFleetTests {
  private static let ids = ["a", "b", "c", "d"]
  private static let rotations = 40

  @Test(.timeLimit(.minutes(15)))
  func `no session is lost when three hosts refresh tokens and their database fails`()
    async throws
  {
    try await Glewlwyd.running(accessTTL: .seconds(3), settings: ["ROTATE": "always"]) { server in
      try await PostgreSQLServer.running { database in
        let hosts = (1...3).map { _ in
          AccountManager(
            store: PostgreSQLTokenStore(
              connection: database.connection, key: .raw(Data(repeating: 1, count: 32))),
            environment: Self.environment(server))
        }
        let configuration = try ClientConfiguration(
          clientID: Glewlwyd.Client.public.rawValue, redirectURI: try server.takeRedirectURI(),
          scope: "read write", provider: .issuer(server.issuer))
        for id in Self.ids { try await hosts[0].account(configuration, id: id).signIn() }
        let keepers = hosts.map { $0.keepFresh { _ in configuration } }
        var round = 0
        while keepers.map(\.totals.refreshed).reduce(0, +) < Self.rotations {
          let before = keepers.map(\.totals.refreshed).reduce(0, +)
          // After a database failure, the other hosts may need two minutes to take over a host's
          // accounts.
          try await eventually("the next rotations", within: .seconds(200)) {
            keepers.map(\.totals.refreshed).reduce(0, +) >= before + Self.ids.count
          }
          if round.isMultiple(of: 2) {
            try await database.terminateSessions()
          } else {
            database.kill()
            try await database.restart()
          }
          round += 1
        }
        for keeper in keepers { await keeper.stop() }
        #expect(keepers.map(\.totals.ended) == [0, 0, 0])
        for id in Self.ids {
          let account = try await hosts[1].account(configuration, id: id)
          // On a slow machine a token of 3 s may expire before it is checked.
          try await eventually("a new token is good") {
            let token = try await account.refresh()
            return (try? await server.introspect(token.accessToken).active) == true
          }
        }
      }
    }
  }

  private static func environment(_ server: Glewlwyd) -> ClientEnvironment {
    var environment = ClientEnvironment()
    environment.userAgent = CustomUserAgent { url in
      try await server.visit(url, as: .alice, granting: ["read", "write"], to: .public)
    }
    return environment
  }
}
