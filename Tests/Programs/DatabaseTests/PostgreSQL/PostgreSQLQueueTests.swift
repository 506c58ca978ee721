import Foundation
import ProgramSupport
import SequencingOAuth
import SequencingOAuthPostgreSQL
import TestSupport
import Testing

/// The accounts that are due, as the stores of several hosts take them.
@Suite(.requires(.postgreSQL), .timeLimit(.minutes(2))) struct PostgreSQLQueueTests {
  static func record(
    _ id: String, due: Double? = -1, client: String = "client"
  ) -> AccountRecord {
    AccountRecord(
      id: id, clientID: client, issuer: "https://id.example",
      token: SQToken(
        accessToken: "a", expirationDate: due.map { Date() + $0 }, refreshToken: "r",
        issueDate: Date()))
  }

  private func withStores(
    _ records: [AccountRecord],
    _ body: (PostgreSQLServer, PostgreSQLTokenStore, PostgreSQLTokenStore) async throws -> Void
  ) async throws {
    try await PostgreSQLServer.running { server in
      let one = store(server)
      for record in records { try await one.save(record) }
      try await body(server, one, store(server))
    }
  }

  private func take(
    _ store: PostgreSQLTokenStore, _ count: Int = 100
  ) async throws -> [DueAccounts.Account] {
    try await store.take(atMost: count, for: .seconds(600)).accounts
  }

  private func next(_ store: PostgreSQLTokenStore) async throws -> Duration? {
    try await store.take(atMost: 1, for: .seconds(1)).next
  }

  @Test func `an account that is due is given to one host`() async throws {
    let records = (1...200).map { Self.record("\($0)") }
    try await withStores(records + [Self.record("fresh", due: 3600)]) { _, one, two in
      let taken = try await withThrowingTaskGroup(of: [String].self) { group in
        for index in 1...40 {
          group.addTask { try await take(index.isMultiple(of: 2) ? one : two, 5).map(\.id) }
        }
        return try await group.reduce(into: []) { $0 += $1 }
      }
      #expect(Set(taken).count == taken.count)
      // What another host was just taking is left out, and comes at the next time.
      let rest = try await take(one, 200).map(\.id)
      #expect(Set(taken + rest) == Set(records.map(\.id)))
      #expect(try await take(two).isEmpty)
    }
  }

  @Test func `an account that never expires, or cannot be renewed, is never due`() async throws {
    let dead = AccountRecord(
      id: "dead", clientID: "client",
      token: SQToken(accessToken: "a", expirationDate: Date() - 10, issueDate: Date() - 20))
    try await withStores([Self.record("for ever", due: nil), dead]) { _, one, _ in
      let (taken, next) = (try await take(one), try await next(one))
      #expect(taken.isEmpty && next == nil)
    }
  }

  @Test func `the time until the next account is due is told`() async throws {
    try await withStores([Self.record("a", due: 1000), Self.record("b", due: 500)]) { _, one, _ in
      let next = try #require(try await next(one))
      // The margin is 11 to 12 percent of the life.
      #expect(next > .seconds(300) && next < .seconds(450))
    }
  }

  @Test func `an account comes back when the claim is over, or was postponed`() async throws {
    try await withStores([Self.record("a"), Self.record("b")]) { server, one, two in
      let taken = try await take(one)
      let a = try #require(taken.first { $0.id == "a" })
      try await one.postpone(a, by: .seconds(3600))
      try await server.run(
        "UPDATE sequencing_oauth.accounts SET due = due - interval '1000 s'")
      #expect(try await take(two).map(\.id) == ["b"])
    }
  }

  @Test func `a save ends a claim, and is not postponed`() async throws {
    try await withStores([Self.record("a")]) { _, one, two in
      let old = try #require(try await take(one).first)
      try await two.save(Self.record("a"))
      try await one.postpone(old, by: .seconds(3600))
      #expect(try await take(two).map(\.id) == ["a"])
    }
  }

  @Test func `a paused server's accounts are left out, and then come one by one`() async throws {
    let records = (1...10).map { Self.record("\($0)") }
    let other = Self.record("other", client: "another")
    try await withStores(records + [other]) { server, one, two in
      let name = ServerName(of: records[0])
      #expect(
        try await one.pause(ServerName(of: Self.record("x", client: "x")), askedFor: nil)
          <= .seconds(1))
      #expect(try await one.pause(name, askedFor: .seconds(300)) > .seconds(280))
      // A failure in that time does not make it longer, and a longer wish does.
      #expect(try await two.pause(name, askedFor: nil) <= .seconds(300))
      #expect(try await two.pause(name, askedFor: .seconds(500)) > .seconds(480))
      #expect(try await take(two).map(\.id) == ["other"])
      let next = try #require(try await next(one))
      #expect(next > .seconds(400))

      let lapse = "UPDATE sequencing_oauth.pauses SET until = clock_timestamp()"
      try await server.run(lapse)
      let first = try await take(two)
      #expect(first.count == 1 && first.allSatisfy(\.wasPaused))
      // Until its request is answered, no host sends another one.
      #expect(try await take(two).isEmpty)
      #expect(try await take(one).isEmpty)
      try await one.giveBack(name)
      let second = try await take(one)
      #expect(second.count == 1 && second.first?.id != first.first?.id)
      // The second failure in a row: two seconds.
      let pause = try await two.pause(name, askedFor: nil)
      #expect(pause > .seconds(1) && pause <= .seconds(2))
      try await server.run(lapse)
      #expect(try await take(one).count == 1)
      try await one.resume(name)
      #expect(try await take(two).count == 7)
    }
  }

  @Test func `hosts that ask together give a server one request after its pause`() async throws {
    let records = (1...40).map { Self.record("\($0)") }
    try await withStores(records) { server, one, two in
      let name = ServerName(of: records[0])
      _ = try await one.pause(name, askedFor: nil)
      for round in 1...5 {
        try await server.run("UPDATE sequencing_oauth.pauses SET until = clock_timestamp()")
        let taken = try await withThrowingTaskGroup(of: Int.self) { group in
          for index in 1...12 {
            group.addTask { try await take(index.isMultiple(of: 2) ? one : two, 5).count }
          }
          return try await group.reduce(0, +)
        }
        #expect(taken == 1, "round \(round)")
        _ = try await one.pause(name, askedFor: nil)
      }
    }
  }

  @Test func `a server may ask for an hour at most`() async throws {
    try await withStores([Self.record("a")]) { _, one, _ in
      let pause = try await one.pause(
        ServerName(of: Self.record("a")), askedFor: .seconds(1_000_000_000))
      #expect(pause > .seconds(3590) && pause <= .seconds(3600))
    }
  }

  @Test func `a damaged record is given out with its error`() async throws {
    try await withStores([Self.record("a"), Self.record("b")]) { server, one, _ in
      try await server.run(
        "UPDATE sequencing_oauth.accounts SET value = '\\x00' WHERE id = convert_to('a', 'UTF8')")
      let taken = try await take(one).sorted { $0.id < $1.id }
      #expect(taken.map(\.id) == ["a", "b"])
      let ids = taken.map { try? $0.record.get().id }
      #expect(ids == [nil, "b"])
    }
  }
}
