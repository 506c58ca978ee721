import ProgramSupport
import SequencingOAuth
import SequencingOAuthPostgreSQL
import TestSupport
import Testing

/// A process that changes an account while one of its own sessions refreshes the account's token.
///
/// A sign-out and a new sign-in wait for no lease, so they may come at any time, also from a
/// session that shares its store with the refreshing session.
@Suite(.requires(.postgreSQL), .timeLimit(.minutes(2))) struct OwnChangeTests {
  private typealias Hosts = PostgreSQLLeaseTests.Hosts

  enum Change: CaseIterable {
    case signOut
    case refusal
    case signIn
    /// A sign-out on another host, after which any part of the process reads the account.
    case signOutElsewhere

    fileprivate func make(in hosts: PostgreSQLLeaseTests.Hosts) async throws {
      switch self {
      case .signOut: try await hosts.one.erase("a")
      case .refusal:
        try await hosts.one.erase("a", ifTokenIsIn: [hosts.old.token, hosts.new.token])
      case .signIn: try await hosts.one.save(OwnChangeTests.signedIn)
      case .signOutElsewhere:
        try await hosts.two.erase("a")
        #expect(try await hosts.one.load("a") == nil)
      }
    }

    /// The record in the database after the change.
    fileprivate var result: AccountRecord? { self == .signIn ? OwnChangeTests.signedIn : nil }
  }

  private static let signedIn = AccountRecord(
    id: "a", clientID: "client", session: "another", token: SQToken(accessToken: "s"))

  /// Runs `body` after the first host took the account's lease and read the account.
  private func withLease(_ body: (Hosts) async throws -> Void) async throws {
    try await PostgreSQLServer.running { server in
      let hosts = try await Hosts(server)
      let lease = try #require(try await hosts.one.lease("a"))
      #expect(try await hosts.one.load("a") == hosts.old)
      try await body(hosts)
      lease.release()
      try await hosts.released()
    }
  }

  @Test(arguments: Change.allCases)
  func `a late refresh does not undo a change of the account in its own process`(
    change: Change
  ) async throws {
    try await withLease { hosts in
      let reservation = try await hosts.one.reserve("a", replacing: hosts.old)
      try await change.make(in: hosts)
      await reservation.writeAhead(hosts.new)
      await failure(.accountChanged) { try await hosts.one.save(hosts.new) }
      #expect(try await hosts.two.load("a") == change.result)
    }
  }

  /// A refresh that uses up no refresh token reserves nothing.
  @Test(arguments: Change.allCases)
  func `a late refresh without a reservation does not undo a change in its own process`(
    change: Change
  ) async throws {
    try await withLease { hosts in
      try await change.make(in: hosts)
      await failure(.accountChanged) { try await hosts.one.save(hosts.new) }
      #expect(try await hosts.two.load("a") == change.result)
    }
  }

  /// After a refresh with an ID token, the account is saved twice.
  ///
  /// The change comes between the two saves, or between the two steps of the first save.
  @Test(arguments: Change.allCases, [true, false])
  func `the second save of a refresh does not undo a change in its own process`(
    change: Change, isOfSameRecord: Bool
  ) async throws {
    try await withLease { hosts in
      let reservation = try await hosts.one.reserve("a", replacing: hosts.old)
      await reservation.writeAhead(hosts.new)
      try await change.make(in: hosts)
      let record = isOfSameRecord ? hosts.new : hosts.newest
      await failure(.accountChanged) { try await hosts.one.save(record) }
      #expect(try await hosts.two.load("a") == change.result)
    }
  }

  @Test func `after a new sign-in in its own process, the same lease serves for its refresh`()
    async throws
  {
    try await withLease { hosts in
      _ = try await hosts.one.reserve("a", replacing: hosts.old)
      try await hosts.one.save(Self.signedIn)
      let reservation = try await hosts.one.reserve("a", replacing: Self.signedIn)
      let refreshed = AccountRecord(
        id: "a", clientID: "client", session: "another", token: SQToken(accessToken: "t"))
      await reservation.writeAhead(refreshed)
      try await hosts.one.save(refreshed)
      #expect(try await hosts.two.load("a") == refreshed)
    }
  }
}
