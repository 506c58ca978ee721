import Foundation
import SQBasics
import Testing

@testable import SequencingOAuth
@testable import SequencingOAuthBackend
@testable import TestSupport

/// What an `AccountKeeper` does after a failed renewal: with the account, and with its server.
@Suite("An account keeper and refused accounts", .timeLimit(.minutes(1)))
struct KeeperRefusalTests {
  /// An app's own queue, which returns each due account once, in order.
  private final class ListQueue: TokenStore, AccountQueue {
    private struct State {
      var due: [DueAccounts.Account] = []
      var calls: [String] = []
    }

    private let memory = MemoryTokenStore()
    private let state = Locked(State())

    /// What the keeper has told the queue, such as `a waits 10`.
    var calls: [String] { state.withLock(\.calls) }

    func add(_ record: AccountRecord, dueAt date: Date, wasPaused: Bool) async {
      await memory.save(record)
      state.withLock { state in
        state.due.append(
          DueAccounts.Account(
            id: record.id, record: .success(record), wasPaused: wasPaused, date: date))
      }
    }

    private func note(_ call: String) { state.withLock { $0.calls.append(call) } }

    func load(_ id: String) async throws -> AccountRecord? { await memory.load(id) }
    func save(_ record: AccountRecord) async throws { await memory.save(record) }
    func erase(_ id: String) async throws { await memory.erase(id) }
    func list() async throws -> [String] { await memory.list() }

    func take(atMost count: Int, for time: Duration) async throws(SQOAuthError) -> DueAccounts {
      state.withLock { state in
        let taken = Array(state.due.prefix(count))
        state.due.removeFirst(taken.count)
        return DueAccounts(taken, next: .milliseconds(20))
      }
    }

    func postpone(
      _ account: DueAccounts.Account, by time: Duration
    ) async throws(SQOAuthError) {
      note("\(account.id) waits \(Int((time / .seconds(1)).rounded()))")
    }

    func finish(
      _ account: DueAccounts.Account, with record: AccountRecord?
    ) async throws(SQOAuthError) {
      note("\(account.id) \(record == nil ? "ended" : "renewed")")
    }

    func pause(
      _ server: ServerName, askedFor time: Duration?
    ) async throws(SQOAuthError) -> Duration {
      note("pause")
      return .seconds(1)
    }

    func resume(_ server: ServerName) async throws(SQOAuthError) { note("resume") }
    func giveBack(_ server: ServerName) async throws(SQOAuthError) { note("give back") }
  }

  private static let endpoint = "https://id.example/token"

  /// Lets a keeper renew one account after the other, and returns what it told the queue.
  ///
  /// `refusals` has the server's answer for the accounts that it refuses. All accounts have been due
  /// for `overdue` seconds; the keeper has been running since before, unless it `startsLate`.
  private func keep(
    _ ids: [String], overdue: Double = 0, wasPaused: Bool = false, startsLate: Bool = false,
    refusing refusals: [String: Refusal]
  ) async throws -> [String] {
    let (clock, queue) = (ManualClock(), ListQueue())
    let start = clock.now
    // A token that lasts 300 s is due after 264 s.
    let time = 264 + overdue
    if startsLate { clock.advance(by: time) }
    var environment = ClientEnvironment()
    environment.clock = clock
    environment.transport = ScriptedTransport { request in
      let id = ScriptedTransport.form(of: request)?["refresh_token"] ?? ""
      return try await (refusals[id]?.answer ?? ScriptedTransport.token())(request)
    }
    let configuration = try ClientConfiguration(
      clientID: "client", provider: .endpoints(token: Self.endpoint))
    let keeper = AccountManager(store: queue, environment: environment)
      .keepFresh(atOnce: 1) { _ in configuration }
    if !startsLate { clock.advance(by: time) }
    for id in ids {
      let token = SQToken(
        accessToken: id, expirationDate: start + 300, refreshToken: id, issueDate: start)
      await queue.add(
        AccountRecord(id: id, clientID: "client", tokenEndpoint: Self.endpoint, token: token),
        dueAt: clock.now, wasPaused: wasPaused)
    }
    try await eventually("the keeper handles each account") {
      keeper.totals.failed + keeper.totals.ended + keeper.totals.refreshed == ids.count
    }
    await keeper.stop()
    return queue.calls
  }

  /// An answer that is no token.
  struct Refusal: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let answer: ScriptedTransport.Answer

    init(_ status: Int, _ body: String = "") {
      testDescription = "\(status) \(body)"
      answer = ScriptedTransport.json(body, status: status)
    }

    init(_ status: Int, code: String) {
      self.init(status, #"{"error":"\#(code)"}"#)
    }
  }

  static let maintenance = Refusal(200, "<html>")
  static let unauthorized = Refusal(403, code: "unauthorized_client")
  /// The answers by which servers refuse a refresh token that is not valid any more.
  static let ofToken = [
    unauthorized, Refusal(400, code: "invalid_request"), Refusal(401, code: "invalid_token"),
    Refusal(403, code: "access_denied"), Refusal(400, code: "own_code"), Refusal(403),
  ]
  static let ofServer = [
    Refusal(401, code: "invalid_client"), Refusal(400, code: "unsupported_grant_type"),
    Refusal(503, code: "unauthorized_client"), Refusal(429),
  ]

  // MARK: The account

  @Test(arguments: ofToken + [maintenance])
  func `a refused account waits as long as it has been due, from 10 s to an hour`(
    refusal: Refusal
  ) async throws {
    for (overdue, wait) in [(0.0, 10), (10, 10), (80, 80), (1800, 1800), (90_000, 3600)] {
      let calls = try await keep(["a"], overdue: overdue, refusing: ["a": refusal])
      #expect(calls == ["a waits \(wait)"])
    }
  }

  @Test(arguments: ofToken + [maintenance])
  func `a refused account waits 10 s if its keeper was started after it was due`(
    refusal: Refusal
  ) async throws {
    let calls = try await keep(["a"], overdue: 90_000, startsLate: true, refusing: ["a": refusal])
    #expect(calls == ["a waits 10"])
  }

  // MARK: The server

  @Test(arguments: ofToken + [maintenance, Refusal(302)])
  func `a server that refuses one account is not paused for the others`(
    refusal: Refusal
  ) async throws {
    let calls = try await keep(["a", "b", "c"], refusing: ["a": refusal, "c": refusal])
    #expect(calls == ["a waits 10", "b renewed", "c waits 10"])
  }

  @Test(arguments: [unauthorized, maintenance])
  func `if two accounts in a row fail alike, the server is paused`(
    refusal: Refusal
  ) async throws {
    let refusals = ["a": refusal, "b": refusal]
    let calls = try await keep(["a", "b", "c"], refusing: refusals)
    #expect(calls == ["a waits 10", "pause", "b waits 10", "c renewed"])
    // The same account again says no more about the server.
    #expect(try await keep(["a", "a"], refusing: refusals) == ["a waits 10", "a waits 10"])
  }

  @Test func `two accounts that fail in different ways pause no server`() async throws {
    let calls = try await keep(
      ["a", "b"], refusing: ["a": Self.unauthorized, "b": Self.maintenance])
    #expect(calls == ["a waits 10", "b waits 10"])
  }

  @Test func `two accounts that fail alike with another failure between pause no server`()
    async throws
  {
    let other = Refusal(400, code: "invalid_request")
    let calls = try await keep(
      ["a", "b", "c"],
      refusing: ["a": Self.unauthorized, "b": other, "c": Self.unauthorized])
    #expect(calls == ["a waits 10", "b waits 10", "c waits 10"])
  }

  @Test(arguments: ofServer)
  func `a server in trouble, or that refuses the client, is paused at once`(
    refusal: Refusal
  ) async throws {
    let calls = try await keep(["a"], overdue: 80, refusing: ["a": refusal])
    #expect(calls == ["pause", "a waits 1"])
  }

  @Test func `after a pause, the first request is left to another account if this one is refused`()
    async throws
  {
    let calls = try await keep(["a"], wasPaused: true, refusing: ["a": Self.unauthorized])
    #expect(calls == ["give back", "a waits 10"])
  }
}
