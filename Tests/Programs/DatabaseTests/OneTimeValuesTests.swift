import Foundation
import LoopbackSupport
import OAuthSandbox
import ProgramSupport
import SQBasics
import SequencingOAuth
import SequencingOAuthBackend
import SequencingOAuthPostgreSQL
import TestSupport
import Testing

@testable import SequencingOAuthSQLite

/// Values that may be used only once, in every kind of store that remembers used values.
@Suite(.timeLimit(.minutes(3))) struct OneTimeValuesTests {
  private static let now = Date(timeIntervalSince1970: 1_750_000_000.5)
  private static let end = now.addingTimeInterval(600)

  /// Checks that only one of many tasks can use a value, with two objects that share one store.
  private func race(_ one: any OneTimeValues, _ two: any OneTimeValues) async throws {
    for value in ["a", "b"] {
      #expect(try await two.wasUsed(value) == false)
      let firsts = try await withThrowingTaskGroup(of: Bool.self) { group in
        for number in 0..<20 {
          group.addTask {
            try await (number % 2 == 0 ? one : two)
              .isFirstUse(of: value, until: Self.end, at: Self.now)
          }
        }
        return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
      }
      #expect(firsts == 1)
      #expect(try await one.wasUsed(value) == true)
      #expect(try await two.wasUsed(value) == true)
    }
    #expect(try await one.isFirstUse(of: "A", until: Self.end, at: Self.now))
    #expect(try await !two.isFirstUse(of: "A", until: Self.end, at: Self.now))
  }

  @Test func `a value in memory can be used only once`() async throws {
    let memory = MemoryOneTimeValues()
    try await race(memory, memory)
  }

  @Test func `the memory store has a size limit and first removes the values that expire first`() {
    let memory = MemoryOneTimeValues()
    func note(_ number: Int, at now: Date = Self.now) -> Bool {
      memory.isFirstUse(
        of: "\(number)", until: Self.end.addingTimeInterval(Double(number)), at: now)
    }
    #expect((0..<10_000).allSatisfy { note($0) })
    #expect(!note(0) && !note(9_999))
    #expect(note(10_000), "a new value replaces old values")
    #expect(!note(1_000) && !note(10_000), "only a tenth of the values is removed")
    #expect(note(999))
    // Expired values are removed first.
    #expect((10_001..<10_999).allSatisfy { note($0) })
    #expect(note(20_000, at: Self.end.addingTimeInterval(1_000)))
    #expect(!note(1_001) && !note(10_998))
  }

  @Test func `values for one purpose do not evict values for another purpose`() {
    let memory = MemoryOneTimeValues()
    #expect(memory.isFirstUse(of: "token", for: "logout token", until: Self.end, at: Self.now))
    for number in 0..<25_000 {
      _ = memory.isFirstUse(
        of: "\(number)", for: "web sign-in", until: Self.end + 1, at: Self.now)
    }
    #expect(!memory.isFirstUse(of: "token", for: "logout token", until: Self.end, at: Self.now))
  }

  @Test(arguments: [nil, StoreKey.testKey])
  func `two stores can use a value in a database file only once`(key: StoreKey?) async throws {
    let folder = try TemporaryFolder()
    let stores = [0, 1].map { _ in SQLiteTokenStore(path: folder.file("t.sqlite"), key: key) }
    try await race(stores[0], stores[1])
    // A value is remembered an hour longer than it is valid, because clocks differ.
    let late = Self.end.addingTimeInterval(3600)
    #expect(try await !stores[1].isFirstUse(of: "a", until: late, at: late))
    let later = late.addingTimeInterval(2)
    #expect(try await stores[1].isFirstUse(of: "a", until: later, at: later))
    // Dates far in the future are no error.
    #expect(try await stores[0].isFirstUse(of: "far", until: .distantFuture, at: Self.now))
    #expect(try await stores[0].list() == [])
  }

  /// Anyone who begins a web sign-in or sends a proof of a key adds a value.
  @Test func `a use looks for expired values in a few rows only, and many uses remove them all`()
    async throws
  {
    let files = try SQLiteFolder()
    let store = files.store()
    #expect(try await store.isFirstUse(of: "m", until: Self.end, at: Self.now))
    try await files.sql(
      """
      WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 599)
      INSERT INTO used SELECT 'k' || i, 0 FROM n UNION ALL SELECT 'n' || i, 0 FROM n
      """)
    func use(_ value: String) async throws -> Int? {
      #expect(try await store.isFirstUse(of: value, until: Self.end, at: Self.now))
      let count = try await files.sql("SELECT count(*) FROM used WHERE until = 0")
      return Int(count.dropLast())
    }
    let portion = Int(AccountTable.sweptValues)
    #expect(try await use("ma") == 1000 - 2 * portion)
    #expect(try await use("z") == 1000 - 3 * portion, "no value comes after this one")
    for number in 1...(1000 / portion) { _ = try await use("m\(number)") }
    #expect(try await use("mb") == 0)
    #expect(try await !store.isFirstUse(of: "m", until: Self.end, at: Self.now))
    #expect(try await store.isFirstUse(of: "k300", until: Self.end, at: Self.now))
  }

  @Test(.requires(.postgreSQL)) func `two hosts can use a value in PostgreSQL only once`()
    async throws
  {
    try await PostgreSQLServer.running { server in
      let stores = [0, 1].map { _ in DatabaseTests.store(server) }
      try await race(stores[0], stores[1])
      // Values that expired more than an hour ago are removed, a few at a time.
      let past = Self.now.addingTimeInterval(-3605)
      for value in ["c", "d", "e"] {
        #expect(try await stores[0].isFirstUse(of: value, until: past, at: Self.now))
      }
      #expect(try await stores[1].isFirstUse(of: "f", until: Self.end, at: Self.now))
      #expect(try await stores[1].isFirstUse(of: "c", until: Self.end, at: Self.now))
    }
  }

  /// The store repeats a call that got no answer, and must not take its own entry for another
  /// host's.
  @Test(.requires(.postgreSQL), arguments: [TCPRelay.Fault.requestIsLost, .answerIsLost])
  func `if the request or the answer is lost, a value's first use is still reported as the first`(
    fault: TCPRelay.Fault
  )
    async throws
  {
    try await PostgreSQLServer.running { server in
      let relay = try TCPRelay(to: server.port)
      let store = PostgreSQLTokenStore(
        connection: server.connection(through: relay.port, parameters: ["connect_timeout": "2"]),
        key: .testKey, connections: 1)
      #expect(try await store.isFirstUse(of: "before", until: Self.end, at: Self.now))
      relay.expect(fault, atRequest: 1)
      #expect(try await store.isFirstUse(of: "a", until: Self.end, at: Self.now))
      #expect(!relay.isFaultExpected)
      #expect(try await !store.isFirstUse(of: "a", until: Self.end, at: Self.now))
    }
  }

  /// No configuration is needed: the manager finds that its store can remember values.
  @Test(.requires(.postgreSQL), arguments: KeptAccounts.Store.allCases)
  func `two hosts that share a store can finish a web sign-in only once`(kind: KeptAccounts.Store)
    async throws
  {
    try await KeptAccounts.running(kind) { accounts in
      let hosts = [0, 1].map { _ in AccountManager(store: accounts.open()) }
      let client = try ClientConfiguration(
        clientID: accounts.configuration.clientID,
        redirectURI: "com.example.sandbox:/callback", provider: accounts.configuration.provider)
      let (url, signIn) = try await hosts[0].beginSignIn(client)
      let redirect = try await SandboxVisitor().visit(url).redirect
      _ = try await hosts[1].finishSignIn(signIn, redirect: redirect, client) {
        _ in "alice"
      }
      let error = await failure {
        try await hosts[0].finishSignIn(signIn, redirect: redirect, client) { _ in "alice" }
      }
      #expect(error?.code == .webSignInUsed)
      #expect(accounts.sandbox.requests(to: .token).count == 1)
    }
  }
}
