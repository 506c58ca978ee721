import Foundation
import OAuthSandbox
import ProgramSupport
import SQBasics
import SequencingOAuth
import TestSupport
import Testing

@testable import SequencingOAuthPostgreSQL

/// While a host has an unsaved token, no other host may send the stored refresh token.
@Suite(.requires(.postgreSQL), .timeLimit(.minutes(3))) struct UnsavedTokenTests {
  private typealias Hosts = PostgreSQLLeaseTests.Hosts

  private static let refuseSaves = "REVOKE UPDATE ON sequencing_oauth.accounts FROM app"
  private static let allowSaves = "GRANT UPDATE ON sequencing_oauth.accounts TO app"

  /// Runs `body` after a host received a token, could not save it, and released its lease.
  private func withUnsavedToken(_ body: (Hosts) async throws -> Void) async throws {
    try await PostgreSQLServer.running { server in
      let hosts = try await Hosts(server)
      let lease = try #require(try await hosts.one.lease("a"))
      _ = try await hosts.one.load("a")
      let reservation = try await hosts.one.reserve("a", replacing: hosts.old)
      try await server.run(Self.refuseSaves)
      await reservation.writeAhead(hosts.new)
      await failure(.storeFailed) { try await hosts.one.save(hosts.new) }
      reservation.release()
      lease.release()
      try await body(hosts)
    }
  }

  @Test func `a lease is kept while the new token is unsaved and ends after its save`() async throws
  {
    try await withUnsavedToken { hosts in
      #expect(try await hosts.two.lease("a") == nil)
      try await hosts.server.run(Self.allowSaves)
      let lease = try #require(try await hosts.one.lease("a"))
      let left = """
        SELECT sent, until - clock_timestamp() > interval '100 s' FROM sequencing_oauth.leases
        """
      #expect(try await hosts.server.run(left) == "t|t")
      #expect(try await hosts.one.lease("a") == nil)
      #expect(try await hosts.one.load("a") == hosts.old)
      try await hosts.one.save(hosts.new)
      lease.release()
      let second = try await eventually("the lease is free") { try await hosts.two.lease("a") }
      #expect(try await hosts.two.load("a") == hosts.new)
      second.release()
    }
  }

  @Test func `another session of the same host does not send the old refresh token`() async throws {
    try await withUnsavedToken { hosts in
      let lease = try #require(try await hosts.one.lease("a"))
      let known = try #require(try await hosts.one.load("a"))
      await failure(.accountChanged) { try await hosts.one.reserve("a", replacing: known) }
      lease.release()
      #expect(try await hosts.two.lease("a") == nil)
    }
  }

  /// The session that had the token is gone, as after the end of a keeper.
  @Test func `an unsaved token that no session tries to save keeps its lease for a limited time`()
    throws
  {
    let held = HeldLeases()
    let ticket = try #require(held.begin("a"))
    held.received("a", ticket, at: .now - .seconds(LeaseStatements.sentSeconds / 2))
    #expect(!held.release("a", ticket))
    #expect(held.begin("a") == ticket && held.lease("a")?.isUnsaved == true)
    held.received("a", ticket, at: .now - .seconds(LeaseStatements.sentSeconds))
    #expect(held.release("a", ticket))
    held.end("a", ticket)
    #expect(held.begin("a") != ticket)
  }

  @Test func `a sign-out ends the lease even if a token is unsaved`() async throws {
    try await withUnsavedToken { hosts in
      let lease = try #require(try await hosts.one.lease("a"))
      try await hosts.one.erase("a")
      lease.release()
      try await hosts.released()
    }
  }

  @Test func `a lease ends when another host has replaced the unsaved token`() async throws {
    try await withUnsavedToken { hosts in
      try await hosts.server.run(Self.allowSaves)
      let second = try await hosts.takeOver()
      _ = try await hosts.two.load("a")
      try await hosts.two.save(hosts.newest)
      second.release()
      try await hosts.released()
      let lease = try #require(try await hosts.one.lease("a"))
      #expect(try await hosts.one.load("a") == hosts.newest)
      await failure(.accountChanged) { try await hosts.one.save(hosts.new) }
      lease.release()
      try await hosts.released()
      #expect(try await hosts.two.load("a") == hosts.newest)
    }
  }

  @Test func `a sign-out on another host is kept even if a token is unsaved`() async throws {
    try await SharedAccount.running { account in
      let (host, refresh, answer) = try await account.heldRefresh()
      try await account.server.run(Self.refuseSaves)
      answer.open()
      _ = try await refresh.value
      let other = store(account.server)
      try await other.erase("a")
      // Another attempt to save the token fails. After that, the store no longer knows of the
      // refresh.
      try? await host.flush()
      try await account.server.run(Self.allowSaves)
      try await eventually("the session ends") {
        try? await host.flush()
        return host.currentToken == nil
      }
      #expect(try await other.load("a") == nil)
    }
  }

  @Test func `a session keeps the lease until its token is saved`() async throws {
    try await SharedAccount.running { account in
      let (host, refresh, answer) = try await account.heldRefresh()
      try await account.server.run(Self.refuseSaves)
      answer.open()
      let fresh = try await refresh.value
      let other = store(account.server)
      #expect(try await other.lease("a") == nil)
      try await account.server.run(Self.allowSaves)
      try await host.flush()
      #expect(try await other.load("a")?.token == fresh)
      let lease = try await eventually("the lease is free") { try await other.lease("a") }
      lease.release()
      #expect(account.sandbox.refreshTokenReuses == 0)
    }
  }
}
