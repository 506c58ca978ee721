import Foundation
import SQBasics
import Testing

@testable import SequencingOAuth
@testable import SequencingOAuthBackend
@testable import TestSupport

/// What an `AccountKeeper` does with the accounts of its queue.
@Suite("An account keeper and its queue", .timeLimit(.minutes(1))) struct KeeperQueueTests {
  /// An app's own queue, which returns one due account once.
  private final class OneAccountQueue: TokenStore, AccountQueue {
    private struct State {
      var due: DueAccounts.Account?
      var postponements: [Duration] = []
    }

    private let memory = MemoryTokenStore()
    private let state = Locked(State())

    /// The times by which the keeper has postponed the account.
    var postponements: [Duration] { state.withLock(\.postponements) }

    init(_ record: AccountRecord, dueAt date: Date?) async {
      await memory.save(record)
      state.withLock { state in
        state.due = DueAccounts.Account(
          id: record.id, record: .success(record), wasPaused: false, date: date)
      }
    }

    func load(_ id: String) async throws -> AccountRecord? { await memory.load(id) }
    func save(_ record: AccountRecord) async throws { await memory.save(record) }
    func erase(_ id: String) async throws { await memory.erase(id) }
    func list() async throws -> [String] { await memory.list() }

    func take(atMost count: Int, for time: Duration) async throws(SQOAuthError) -> DueAccounts {
      state.withLock { state in
        defer { state.due = nil }
        return DueAccounts([state.due].compactMap(\.self))
      }
    }

    func postpone(
      _ account: DueAccounts.Account, by time: Duration
    ) async throws(SQOAuthError) {
      state.withLock { $0.postponements.append(time) }
    }

    func finish(
      _ account: DueAccounts.Account, with record: AccountRecord?
    ) async throws(SQOAuthError) {}

    func pause(
      _ server: ServerName, askedFor time: Duration?
    ) async throws(SQOAuthError) -> Duration { .zero }

    func resume(_ server: ServerName) async throws(SQOAuthError) {}
    func giveBack(_ server: ServerName) async throws(SQOAuthError) {}
  }

  /// Lets a keeper handle an account whose access token, issued when the test begins, lasts 300 s.
  ///
  /// The keeper's host has a clock that shows a time `clock` seconds after that. By the queue's
  /// clock, the account is `age` seconds old; `nil` if the queue has no clock.
  ///
  /// - Returns: Whether the account was renewed, or by how much it was postponed.
  private func keep(
    _ choice: KeepingChoice, age: Double?, clock: Double
  ) async throws -> (isRenewed: Bool, postponements: [Duration]) {
    let fixture = try SessionFixture(lifetime: 300)
    let start = fixture.clock.now
    let record = fixture.record(fixture.server.issue(at: start))
    let queue = await OneAccountQueue(record, dueAt: age.map { start + $0 })
    fixture.clock.moveDate(by: clock)
    let configuration = try fixture.module.context.configuration.get()
    let keeper = AccountManager(store: queue, environment: fixture.oauth.environment)
      .keepFresh(choice) { _ in configuration }
    try await eventually("the keeper handles the account") {
      keeper.totals.refreshed > 0 || !queue.postponements.isEmpty
    }
    await keeper.stop()
    return (fixture.refreshes == ["R1"], queue.postponements)
  }

  @Test(
    arguments: [
      // The clock is right, 300 s behind, an hour behind, and a day ahead.
      (1621.0, 1621.0), (1621, 1321), (1621, -1979), (1621, 88_021),
    ])
  func `a wrong clock of the keeper's host lets no refresh token lapse`(age: Double, clock: Double)
    async throws
  {
    let result = try await keep(.lapsing(after: .seconds(1800)), age: age, clock: clock)
    #expect(result.isRenewed && result.postponements.isEmpty)
  }

  @Test(arguments: [264.0, -36, -3336])
  func `an account is postponed by the queue's date until its refresh token would soon lapse`(
    clock: Double
  ) async throws {
    let result = try await keep(.lapsing(after: .seconds(1800)), age: 264, clock: clock)
    #expect(!result.isRenewed && result.postponements == [.seconds(1356)])
  }

  /// The access token is due 264 s after its issue, so it is at least that old.
  @Test(arguments: [(264.0, 1356), (-36, 1356), (1264, 356)])
  func `without a date of the queue, an account counts as due by its record`(
    clock: Double, delay: Int
  ) async throws {
    let result = try await keep(.lapsing(after: .seconds(1800)), age: nil, clock: clock)
    #expect(!result.isRenewed && result.postponements == [.seconds(delay)])
  }

  @Test(arguments: [264.0, 88_000])
  func `a clock that is ahead does not make an account look unused`(clock: Double) async throws {
    let choice = KeepingChoice.used(within: .seconds(3600))
    let result = try await keep(choice, age: 264, clock: clock)
    #expect(result.isRenewed && result.postponements.isEmpty)
    let unused = try await keep(choice, age: 3601, clock: 264)
    #expect(!unused.isRenewed && unused.postponements == [.seconds(86_400)])
  }

  // MARK: A record of a later version

  /// A store with one account, whose record only a later version of the SDK can read.
  private final class LaterStore: TokenStore {
    private let count = Locked(0)

    /// How often the store was asked for its accounts.
    var lists: Int { count.withLock(\.self) }

    func load(_ id: String) async throws -> AccountRecord? {
      throw SQOAuthError(.storeTooNew, "a later version saved it")
    }

    func save(_ record: AccountRecord) async throws {}
    func erase(_ id: String) async throws {}

    func list() async throws -> [String] {
      count.withLock { $0 += 1 }
      return ["a"]
    }
  }

  @Test func `a record of a later version is not asked for again and again`() async throws {
    let (clock, store) = (ManualClock(), LaterStore())
    var environment = ClientEnvironment()
    environment.clock = clock
    let keeper = AccountManager(store: store, environment: environment).keepFresh { _ in nil }
    try await eventually("the keeper reports the record") { keeper.totals.failed == 1 }
    // At the second reading of all records, the keeper has taken what was due at the first one.
    for lists in [2, 3] {
      clock.advance(by: 31)
      try await eventually("the keeper reads all records again") { store.lists == lists }
    }
    await keeper.stop()
    #expect(keeper.totals.failed == 1)
  }

  // MARK: A slow server

  /// Accounts at a slow server, which answers when the test says so, and at another server.
  private struct Servers {
    let clock = ManualClock()
    let store = MemoryTokenStore()
    /// Holds the first answer of the slow server.
    let first = Gate(isOpen: false)
    /// Holds all other answers of the slow server.
    let others = Gate(isOpen: false)
    let http = ScriptedTransport()

    init() {
      let count = Locked(0)
      http.answer { [first, others] request in
        if request.url.host() == "slow.example" {
          let number = count.withLock { count in
            count += 1
            return count
          }
          await (number == 1 ? first : others).opened()
        }
        return try await ScriptedTransport.token()(request)
      }
    }

    /// The number of requests to each server.
    var requests: [String: Int] {
      Dictionary(grouping: http.requests) { $0.url.host() ?? "" }.mapValues(\.count)
    }

    /// Saves an account whose token is due `seconds` from now, or up to 50 s before that.
    func save(_ id: String, at host: String, dueIn seconds: Double) async {
      await store.save(
        AccountRecord(
          id: id, clientID: "client", tokenEndpoint: "https://\(host)/token",
          token: SQToken(
            accessToken: id, expirationDate: clock.now + seconds + 550, refreshToken: id,
            issueDate: clock.now + seconds - 86_400)))
    }

    func keeper(atOnce: Int) throws -> AccountKeeper {
      var environment = ClientEnvironment()
      environment.clock = clock
      environment.transport = http
      var configurations: [String: ClientConfiguration] = [:]
      for host in ["slow.example", "fast.example"] {
        let endpoint = "https://\(host)/token"
        configurations[endpoint] = try ClientConfiguration(
          clientID: "client", provider: .endpoints(token: endpoint))
      }
      return AccountManager(store: store, environment: environment)
        .keepFresh(atOnce: atOnce) { [configurations] in configurations[$0.tokenEndpoint ?? ""] }
    }
  }

  @Test func `a slow server with many due accounts does not keep another server's account waiting`()
    async throws
  {
    let servers = Servers()
    for number in 1...8 {
      await servers.save("slow \(number)", at: "slow.example", dueIn: -100 * Double(number))
    }
    await servers.save("fast", at: "fast.example", dueIn: -10)
    let keeper = try servers.keeper(atOnce: 4)
    try await eventually("the account of the other server is renewed") {
      keeper.totals.refreshed == 1
    }
    try await eventually("the slow server has all other places") {
      servers.requests == ["slow.example": 4, "fast.example": 1]
    }
    servers.first.open()
    servers.others.open()
    try await eventually("all accounts are renewed") { keeper.totals.refreshed == 9 }
    await keeper.stop()
  }

  @Test func `the next free place goes to the server with the fewest renewals`() async throws {
    let servers = Servers()
    for number in 1...8 {
      await servers.save("slow \(number)", at: "slow.example", dueIn: -100 * Double(number))
    }
    await servers.save("fast", at: "fast.example", dueIn: 60)
    let keeper = try servers.keeper(atOnce: 2)
    try await eventually("the slow server has all places") {
      servers.requests == ["slow.example": 2]
    }
    // The queue reads all records every 30 s. Now the other account is due too.
    servers.clock.advance(by: 90)
    servers.first.open()
    try await eventually("the account of the other server is renewed") {
      servers.requests["fast.example"] == 1 && keeper.totals.refreshed == 2
    }
    servers.others.open()
    await keeper.stop()
  }
}
