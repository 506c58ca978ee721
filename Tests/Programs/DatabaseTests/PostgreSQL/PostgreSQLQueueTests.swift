import Foundation
import LoopbackSupport
import ProgramSupport
import SQBasics
import SequencingOAuth
import TestSupport
import Testing

@testable import SequencingOAuthPostgreSQL

/// How the stores of several hosts take the accounts that are due.
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

  @Test func `each account that is due for refresh is given to only one host`() async throws {
    let records = (1...200).map { Self.record("\($0)") }
    try await withStores(records + [Self.record("fresh", due: 3600)]) { _, one, two in
      let taken = try await withThrowingTaskGroup(of: [String].self) { group in
        for index in 1...40 {
          group.addTask { try await take(index.isMultiple(of: 2) ? one : two, 5).map(\.id) }
        }
        return try await group.reduce(into: []) { $0 += $1 }
      }
      #expect(Set(taken).count == taken.count)
      // Accounts that another host was just taking are skipped and returned the next time.
      let rest = try await take(one, 400).map(\.id)
      #expect(Set(taken + rest) == Set(records.map(\.id)))
      #expect(try await take(two).isEmpty)
    }
  }

  @Test
  func `an account whose token never expires or cannot be refreshed is never due for refresh`()
    async throws
  {
    let dead = AccountRecord(
      id: "dead", clientID: "client",
      token: SQToken(accessToken: "a", expirationDate: Date() - 10, issueDate: Date() - 20))
    try await withStores([Self.record("for ever", due: nil), dead]) { _, one, _ in
      let (taken, next) = (try await take(one), try await next(one))
      #expect(taken.isEmpty && next == nil)
    }
  }

  @Test func `the store returns the time until the next account is due for refresh`() async throws {
    try await withStores([Self.record("a", due: 1000), Self.record("b", due: 500)]) { _, one, _ in
      let next = try #require(try await next(one))
      // A 500 s token is due when 11 to 12 percent of its lifetime is left: after 440 to 445 s. The
      // lower bound leaves time for a slow run.
      #expect(next > .seconds(300) && next < .seconds(450))
    }
  }

  @Test func `a host without a limit takes accounts that are due`() async throws {
    try await withStores((1...3).map { Self.record("\($0)") }) { _, one, _ in
      let taken = try await take(one, .max)
      #expect(taken.count == 3)
    }
  }

  /// The hosts' clocks may be wrong.
  @Test func `the store returns the database's date with each due account`() async throws {
    try await withStores([Self.record("a")]) { server, one, _ in
      let now = "SELECT extract(epoch FROM clock_timestamp())"
      let before = try #require(Double(try await server.run(now)))
      let date = try #require(try await take(one).first?.date)
      let after = try #require(Double(try await server.run(now)))
      #expect((before - 0.001...after + 0.001).contains(date.timeIntervalSince1970))
    }
  }

  @Test func `a server gets at most half of the places, and the busiest server comes last`()
    async throws
  {
    let slow = (1...10).map { Self.record("slow \($0)", due: -1000) }
    let fast = (1...10).map { Self.record("fast \($0)", client: "another") }
    try await withStores(slow + fast) { _, one, _ in
      let names = [ServerName(of: slow[0]), ServerName(of: fast[0])]
      func take(_ count: Int, _ busy: [ServerName]) async throws -> [String] {
        try await one.take(atMost: count, for: .seconds(600), busy: busy).accounts
          .map { String($0.id.prefix(4)) }
      }
      #expect(try await take(4, []).sorted() == ["fast", "fast", "slow", "slow"])
      #expect(try await take(1, [names[0]]) == ["fast"])
      #expect(try await take(1, [names[1]]) == ["slow"])
      #expect(try await take(1, names) == ["slow"])
      #expect(try await take(1, names.reversed()) == ["fast"])
      // Only one server has due accounts left.
      while !(try await take(1, [names[0]])).contains("slow") {}
      #expect(try await take(2, [names[0]]) == ["slow"])
    }
  }

  @Test func `an account is due again when its claim expires, unless it was postponed`()
    async throws
  {
    try await withStores([Self.record("a"), Self.record("b")]) { server, one, two in
      let taken = try await take(one)
      let a = try #require(taken.first { $0.id == "a" })
      try await one.postpone(a, by: .seconds(3600))
      try await server.run(
        "UPDATE sequencing_oauth.accounts SET due = due - interval '1000 s'")
      #expect(try await take(two).map(\.id) == ["b"])
    }
  }

  @Test
  func `after a save ends a host's claim on an account, the host cannot postpone the account`()
    async throws
  {
    try await withStores([Self.record("a")]) { _, one, two in
      let old = try #require(try await take(one).first)
      try await two.save(Self.record("a"))
      try await one.postpone(old, by: .seconds(3600))
      #expect(try await take(two).map(\.id) == ["a"])
    }
  }

  /// For example, a failed renewal may bring only a new refresh token.
  @Test func `an account whose renewal leaves an expired token is not due again at once`()
    async throws
  {
    try await withStores([Self.record("a"), Self.record("b")]) { server, one, two in
      #expect(try await take(one).count == 2)
      let lease = try #require(try await one.lease("a"))
      let record = try #require(try await one.load("a"))
      let reservation = try await one.reserve("a", replacing: record)
      let before = try await server.run("SELECT clock_timestamp()")
      await reservation.writeAhead(Self.record("a"))
      lease.release()
      // A save without the lease is not the result of a renewal.
      try await two.save(Self.record("b"))
      let isDueAfterRest = """
        SELECT due >= timestamptz '\(before)' + interval '10 s',
          due <= clock_timestamp() + interval '10 s'
        FROM sequencing_oauth.accounts WHERE id = 'a'
        """
      #expect(try await server.run(isDueAfterRest) == "t|t")
      let isDue = "SELECT due <= clock_timestamp() FROM sequencing_oauth.accounts WHERE id = 'b'"
      #expect(try await server.run(isDue) == "t")
    }
  }

  @Test func `a paused server's accounts are skipped and returned one at a time after the pause`()
    async throws
  {
    let records = (1...10).map { Self.record("\($0)") }
    let other = Self.record("other", client: "another")
    try await withStores(records + [other]) { server, one, two in
      let name = ServerName(of: records[0])
      #expect(
        try await one.pause(ServerName(of: Self.record("x", client: "x")), askedFor: nil)
          <= .seconds(1))
      #expect(try await one.pause(name, askedFor: .seconds(300)) > .seconds(280))
      // A failure during the pause does not extend it; a longer Retry-After does.
      #expect(try await two.pause(name, askedFor: nil) <= .seconds(300))
      #expect(try await two.pause(name, askedFor: .seconds(500)) > .seconds(480))
      #expect(try await take(two).map(\.id) == ["other"])
      let next = try #require(try await next(one))
      #expect(next > .seconds(400))

      let lapse = "UPDATE sequencing_oauth.pauses SET until = clock_timestamp()"
      try await server.run(lapse)
      let first = try await take(two)
      #expect(first.count == 1 && first.allSatisfy(\.wasPaused))
      // Until the first account's request is answered, no host sends another request.
      #expect(try await take(two).isEmpty)
      #expect(try await take(one).isEmpty)
      try await one.giveBack(name)
      let second = try await take(one)
      #expect(second.count == 1 && second.first?.id != first.first?.id)
      // The second failure in a row pauses the server for two seconds.
      let pause = try await two.pause(name, askedFor: nil)
      #expect(pause > .seconds(1) && pause <= .seconds(2))
      try await server.run(lapse)
      #expect(try await take(one).count == 1)
      try await one.resume(name)
      #expect(try await take(two).count == 7)
    }
  }

  @Test func `after a pause the hosts together send a server one request`() async throws {
    let records = (1...40).map { Self.record("\($0)") }
    try await withStores(records) { server, one, two in
      let name = ServerName(of: records[0])
      _ = try await one.pause(name, askedFor: nil)
      for round in 1...3 {
        try await server.run("UPDATE sequencing_oauth.pauses SET until = clock_timestamp()")
        // Each host has chosen an account before one of them may send a request.
        let session = try await server.sleeper(
          "BEGIN; SELECT * FROM sequencing_oauth.pauses FOR UPDATE;")
        let taken = try await withThrowingTaskGroup(of: Int.self) { group in
          for index in 1...8 {
            group.addTask { try await take(index.isMultiple(of: 2) ? one : two, 5).count }
          }
          try await eventually("all hosts wait") {
            try await server.run(
              "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'") == "8"
          }
          try await server.run(
            """
            SELECT pg_terminate_backend(pid, 20000) FROM pg_stat_activity
            WHERE application_name = 'sleeper'
            """)
          return try await group.reduce(0, +)
        }
        _ = try await session.result()
        #expect(taken == 1, "round \(round)")
        _ = try await one.pause(name, askedFor: nil)
      }
    }
  }

  @Test func `a server's requested pause is limited to an hour`() async throws {
    try await withStores([Self.record("a")]) { _, one, _ in
      let pause = try await one.pause(
        ServerName(of: Self.record("a")), askedFor: .seconds(1_000_000_000))
      #expect(pause > .seconds(3590) && pause <= .seconds(3600))
    }
  }

  @Test func `a damaged record is returned with its error`() async throws {
    try await withStores([Self.record("a"), Self.record("b")]) { server, one, _ in
      try await server.run(
        "UPDATE sequencing_oauth.accounts SET value = '\\x00' WHERE id = convert_to('a', 'UTF8')")
      let taken = try await take(one).sorted { $0.id < $1.id }
      #expect(taken.map(\.id) == ["a", "b"])
      let ids = taken.map { try? $0.record.get().id }
      #expect(ids == [nil, "b"])
    }
  }

  @Test(arguments: ["value = '\\x00'", "id = '\\xff'"])
  func `after a pause, an unreadable account does not make its server's other accounts wait`(
    damage: String
  ) async throws {
    try await withStores([Self.record("a"), Self.record("b")]) { server, one, two in
      _ = try await one.pause(ServerName(of: Self.record("a")), askedFor: nil)
      // The damaged account is the first one in the queue.
      try await server.run(
        """
        UPDATE sequencing_oauth.accounts SET \(damage), due = due - interval '1 s'
        WHERE id = convert_to('a', 'UTF8');
        UPDATE sequencing_oauth.pauses SET until = clock_timestamp()
        """)
      let first = try await take(one)
      // An account whose ID is unreadable is not returned.
      #expect(first.map(\.id) == (damage.hasPrefix("value") ? ["a"] : []))
      #expect(first.allSatisfy { !$0.wasPaused })
      let second = try await take(two)
      #expect(second.map(\.id) == ["b"] && second.allSatisfy(\.wasPaused))
    }
  }

  // MARK: Lost answers

  /// Runs `body` with a store whose answers a relay can lose, and with another host's store.
  private func withRelay(
    _ body: (PostgreSQLServer, TCPRelay, PostgreSQLTokenStore, PostgreSQLTokenStore) async throws ->
      Void
  ) async throws {
    try await withStores([]) { server, other, _ in
      // Creates the tables.
      _ = try await other.list()
      let relay = try TCPRelay(to: server.port)
      let one = PostgreSQLTokenStore(
        connection: server.connection(through: relay.port), key: .testKey, connections: 1,
        limit: .seconds(5))
      // Connects and prepares the statement.
      let first = try await eventually("the store connects") { try? await take(one) }
      #expect(first.isEmpty)
      try await body(server, relay, one, other)
    }
  }

  @Test func `accounts in a lost database answer are given to the same host again`() async throws {
    try await withRelay { _, relay, one, other in
      let ids = (1...20).map { "\($0)" }.sorted()
      for id in ids { try await other.save(Self.record(id)) }
      relay.expect(.answerIsLost, atRequest: 1)
      #expect(try await take(one).map(\.id).sorted() == ids)
      #expect(!relay.isFaultExpected)
      let (more, others) = (try await take(one), try await take(other))
      #expect(more.isEmpty && others.isEmpty)
    }
  }

  @Test func `accounts of a failed call are given to the same host at its next call`() async throws
  {
    try await withRelay { _, relay, one, other in
      try await other.save(Self.record("a"))
      relay.passThrough(.requests)
      await #expect(throws: SQOAuthError.self) { try await take(one) }
      relay.speakAgain()
      #expect(try await take(other).isEmpty)
      try await other.save(Self.record("b"))
      #expect(try await take(one, 1).map(\.id) == ["a"])
      #expect(try await take(one).map(\.id) == ["b"])
      #expect(try await take(one).isEmpty)
    }
  }

  @Test
  func `a host that repeats a failed call with a smaller limit gets the remaining accounts later`()
    async throws
  {
    try await withRelay { _, relay, one, other in
      for id in ["a", "b", "c"] { try await other.save(Self.record(id)) }
      relay.passThrough(.requests)
      await #expect(throws: SQOAuthError.self) { try await take(one) }
      relay.speakAgain()
      var taken: [String] = []
      for _ in 1...3 { taken += try await take(one, 1).map(\.id) }
      #expect(taken.sorted() == ["a", "b", "c"])
    }
  }

  @Test func `the first request after a pause is sent even if a database answer is lost`()
    async throws
  {
    try await withRelay { server, relay, one, other in
      for id in ["a", "b"] { try await other.save(Self.record(id)) }
      let name = ServerName(of: Self.record("a"))
      _ = try await other.pause(name, askedFor: nil)
      try await server.run("UPDATE sequencing_oauth.pauses SET until = clock_timestamp()")
      relay.expect(.answerIsLost, atRequest: 1)
      let first = try await take(one)
      #expect(first.count == 1 && first.allSatisfy(\.wasPaused))
      #expect(!relay.isFaultExpected)
      #expect(try await take(other).isEmpty)
      try await one.resume(name)
      #expect(try await take(other).count == 1)
    }
  }

  // MARK: Cost

  /// Returns how many rows of a table a statement reads, as counted by the database.
  private static func rowsRead(
    of table: String, _ server: PostgreSQLServer, _ statement: SQLStatement, _ types: String,
    _ values: String
  ) async throws -> Double {
    let plan = try await server.run(
      """
      SET enable_seqscan = off;
      PREPARE s (\(types)) AS \(statement.text);
      EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE s (\(values))
      """)
    func scans(in value: JSONValue) -> [[String: JSONValue]] {
      if let list = value.array { return list.flatMap(scans) }
      guard let node = value.object else { return [] }
      let isScan = node["Node Type"]?.string?.hasSuffix("Scan") == true
      let isFound = isScan && node["Relation Name"]?.string == table
      return (isFound ? [node] : []) + node.values.flatMap(scans)
    }
    let found = scans(in: try JSONDecoder().decode(JSONValue.self, from: Data(plan.utf8)))
    try #require(!found.isEmpty, "the statement has no scan of \(table): \(plan)")
    var rows = 0.0
    for scan in found {
      // PostgreSQL reports the rows of one loop, so they are multiplied by the number of loops.
      let loops = try #require(scan["Actual Loops"]?.number)
      rows += try #require(scan["Actual Rows"]?.number) * loops
      rows += (scan["Rows Removed by Filter"]?.number ?? 0) * loops
      rows += (scan["Rows Removed by Index Recheck"]?.number ?? 0) * loops
    }
    return rows
  }

  @Test(arguments: ["{}", "{7}"])
  func `a query for accounts that are due for refresh does not read other accounts`(marks: String)
    async throws
  {
    try await withStores([Self.record("a", due: 3600)]) { server, _, _ in
      try await server.run(
        """
        INSERT INTO sequencing_oauth.accounts (id, version, key_number, value, server, due)
        SELECT convert_to(n::text, 'UTF8'), version, key_number, value, server,
          clock_timestamp() + interval '1 hour'
        FROM sequencing_oauth.accounts, generate_series(1, 2000) n
        """)
      let header = try await server.run("SELECT header FROM sequencing_oauth.keys")
      let statements = AccountStatements(schema: "sequencing_oauth")
      let rows = try await Self.rowsRead(
        of: "accounts", server, statements.queue.take,
        "bigint, double precision, integer, double precision, bigint[], bytea[], bytea",
        "8, 120, 1, 9, '\(marks)', '{}', '\(header)'")
      // The index's first entry names the only server. Some PostgreSQL versions may read a few more
      // rows.
      #expect(rows < 10)
    }
  }

  @Test func `storing a one-time value does not read stored values that it must still keep`()
    async throws
  {
    try await withStores([]) { server, one, _ in
      _ = try await one.isFirstUse(of: "value", until: Date() + 60, at: Date())
      try await server.run(
        """
        INSERT INTO sequencing_oauth.used
        SELECT convert_to(n::text, 'UTF8'), '', clock_timestamp()
        FROM generate_series(1, 2000) n
        """)
      let statements = AccountStatements(schema: "sequencing_oauth")
      let rows = try await Self.rowsRead(
        of: "used", server, statements.usedValues.use, "bytea, bytea, double precision",
        "'new', '', 60")
      #expect(rows < 10)
    }
  }
}
