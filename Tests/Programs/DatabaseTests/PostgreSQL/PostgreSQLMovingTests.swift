import ProgramSupport
import SequencingOAuth
import TestSupport
import Testing

@testable import SequencingOAuthPostgreSQL

/// Moves between two stores that are one database, in which no account must be lost.
@Suite(.requires(.postgreSQL), .timeLimit(.minutes(2))) struct PostgreSQLMovingTests {
  /// A store of an app around a database's store, whose leases it does not pass on.
  private struct Plain: TokenStore {
    let base: PostgreSQLTokenStore

    func load(_ id: String) async throws -> AccountRecord? { try await base.load(id) }
    func save(_ record: AccountRecord) async throws { try await base.save(record) }
    func erase(_ id: String) async throws { try await base.erase(id) }
    func list() async throws -> [String] { try await base.list() }
  }

  private func expectNoLeases(_ server: PostgreSQLServer) async throws {
    try await eventually("the leases are released") {
      try await server.run("SELECT count(*) FROM sequencing_oauth.leases") == "0"
    }
  }

  @Test func `a move of accounts to the same database fails and keeps the account`() async throws {
    try await PostgreSQLServer.running { server in
      let (one, two) = (store(server), store(server))
      try await one.save(record("a"))
      await failure(.invalidConfiguration) { try await one.moveAccounts(to: two) }
      #expect(try await one.load("a") == record("a"))
      try await expectNoLeases(server)
    }
  }

  @Test(arguments: [true, false])
  func `a move between a database's store and an app's own store around it keeps the account`(
    isFromDatabase: Bool
  ) async throws {
    try await PostgreSQLServer.running { server in
      let database = store(server)
      try await database.save(record("a"))
      await failure(.invalidConfiguration) {
        if isFromDatabase {
          try await database.moveAccounts(to: Plain(base: database))
        } else {
          try await Plain(base: database).moveAccounts(to: database)
        }
      }
      #expect(try await database.load("a") == record("a"))
      try await expectNoLeases(server)
    }
  }
}
