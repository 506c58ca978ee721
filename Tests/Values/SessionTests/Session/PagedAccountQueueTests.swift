import Foundation
import Testing

@testable import SQBasics
@testable import SequencingOAuth
@testable import SequencingOAuthBackend
@testable import TestSupport

/// The queue of due accounts for a store without its own queue.
@Suite("Due accounts of a store without a queue", .timeLimit(.minutes(1)))
struct PagedAccountQueueTests {
  let store = MemoryTokenStore()
  let clock = ManualClock()

  /// Creates a queue of accounts whose tokens expired the given number of seconds ago.
  private func queue(_ count: Int, expiredFor time: Double = 1) async -> PagedAccountQueue {
    for number in 1...count { await save("\(number)", lifetime: 9, age: time + 9) }
    return PagedAccountQueue(store, clock)
  }

  /// Saves an account with a token that the app got the given number of seconds ago.
  private func save(
    _ id: String, lifetime: Double, age: Double = 0, accessToken: String = "a",
    client: String = "client"
  ) async {
    await store.save(
      AccountRecord(
        id: id, clientID: client, issuer: "https://id.example",
        token: SQToken(
          accessToken: accessToken, expirationDate: clock.now - age + lifetime, refreshToken: "r",
          issueDate: clock.now - age)))
  }

  private func take(_ queue: PagedAccountQueue) async throws -> [DueAccounts.Account] {
    try await queue.take(atMost: 100, for: .seconds(120)).accounts
  }

  @Test func `after a pause, only one account of a server is due until the server is resumed`()
    async throws
  {
    let queue = await queue(10)
    let name = ServerName(of: try #require(await store.load("1")))
    _ = try await queue.pause(name, askedFor: .seconds(5))
    #expect(try await take(queue).isEmpty)
    clock.advance(by: 6)
    let first = try await take(queue)
    #expect(first.count == 1 && first.allSatisfy(\.wasPaused))
    #expect(try await take(queue).isEmpty)
    // No request was sent for the account, so another account of the server may be taken.
    try await queue.giveBack(name)
    #expect(try await take(queue).count == 1)
    _ = try await queue.pause(name, askedFor: .seconds(5))
    clock.advance(by: 6)
    #expect(try await take(queue).count == 1)
    try await queue.resume(name)
    #expect(try await take(queue).count == 7)
  }

  @Test func `after a pause, erased accounts are skipped, and a remaining account is due`()
    async throws
  {
    let queue = await queue(3)
    let name = ServerName(of: try #require(await store.load("1")))
    #expect(try await queue.take(atMost: 0, for: .seconds(1)).accounts.isEmpty)
    _ = try await queue.pause(name, askedFor: .seconds(5))
    for id in ["1", "2"] { await store.erase(id) }
    clock.advance(by: 6)
    var taken: [DueAccounts.Account] = []
    for _ in 1...3 { taken += try await take(queue) }
    #expect(taken.map(\.id) == ["3"])
  }

  @Test func `a change of the date does not change the wait of a postponed account`() async throws {
    let queue = await queue(2, expiredFor: 7200)
    let accounts = try await take(queue)
    try await queue.postpone(try #require(accounts.first), by: .seconds(10))
    clock.moveDate(by: -3600)
    clock.advance(by: 9)
    let early = try await queue.take(atMost: 100, for: .seconds(120))
    #expect(early.accounts.isEmpty && early.next == .seconds(1))
    clock.advance(by: 1)
    #expect(try await take(queue).map(\.id) == accounts.prefix(1).map(\.id))
    // The account that was not postponed was taken for 120 s, and no result was reported for it.
    clock.advance(by: 110)
    #expect(try await take(queue).map(\.id) == accounts.suffix(1).map(\.id))
  }

  @Test(arguments: [-300.0, -32_400])
  func `if the date is moved back, an account is due after its planned wait`(seconds: Double)
    async throws
  {
    await save("1", lifetime: 3600)
    let queue = PagedAccountQueue(store, clock)
    #expect(try await take(queue).isEmpty)
    clock.moveDate(by: seconds)
    clock.advance(by: 3167)
    #expect(try await take(queue).isEmpty)
    clock.advance(by: 37)
    let account = try #require(try await take(queue).first)
    // The queue's date is the one on which the account was due.
    let record = try account.record.get()
    let age = account.date?.timeIntervalSince(try #require(record.token.issueDate))
    #expect(try (3168...3205).contains(#require(age)))
    // A postponement by a choice ends by the same date.
    try await queue.postpone(account, by: .seconds(1000))
    clock.advance(by: 999)
    #expect(try await take(queue).isEmpty)
    clock.advance(by: 1)
    let later = try #require(try await take(queue).first?.date)
    #expect(later == account.date?.addingTimeInterval(1000))
  }

  @Test func `the due accounts of several servers are taken in turns, and busy servers come last`()
    async throws
  {
    for number in 1...6 { await save("slow \(number)", lifetime: 9, age: 100 - Double(number)) }
    for number in 1...2 {
      await save("fast \(number)", lifetime: 9, age: 20 - Double(number), client: "another")
    }
    let queue = PagedAccountQueue(store, clock)
    let slow = ServerName(of: try #require(await store.load("slow 1")))
    let fast = ServerName(of: try #require(await store.load("fast 1")))
    func take(_ count: Int, _ busy: [ServerName] = []) async throws -> [String] {
      try await queue.take(atMost: count, for: .seconds(120), busy: busy).accounts.map(\.id)
    }
    #expect(try await take(3) == ["slow 1", "fast 1", "slow 2"])
    #expect(try await take(1, [fast, slow]) == ["fast 2"])
    #expect(try await take(1, [fast, slow]) == ["slow 3"])
    #expect(try await take(9) == ["slow 4", "slow 5", "slow 6"])
  }

  // Some servers answer with the same access token and a later date.
  @Test(arguments: ["new", "a"])
  func `after the app saves a postponed account, its new token decides when the account is due`(
    accessToken: String
  ) async throws {
    let queue = await queue(1)
    let account = try #require(try await take(queue).first)
    try await queue.postpone(account, by: .seconds(86_400))
    await save("1", lifetime: 3600, accessToken: accessToken)
    // The queue reads all records every 30 s.
    clock.advance(by: 30)
    #expect(try await take(queue).isEmpty)
    clock.advance(by: 3570)
    #expect(try await take(queue).map(\.id) == ["1"])
  }

  @Test func `a taken account that the app saved in the meantime cannot be postponed`()
    async throws
  {
    let queue = await queue(1)
    let account = try #require(try await take(queue).first)
    await save("1", lifetime: 3600)
    clock.advance(by: 30)
    #expect(try await take(queue).isEmpty)
    try await queue.postpone(account, by: .seconds(86_400))
    clock.advance(by: 3570)
    #expect(try await take(queue).map(\.id) == ["1"])
  }

  @Test func `an account whose new token expires earlier than its old token is due earlier`()
    async throws
  {
    let queue = await queue(1, expiredFor: -86_400)
    #expect(try await take(queue).isEmpty)
    await save("1", lifetime: 3600)
    clock.advance(by: 30)
    #expect(try await take(queue).isEmpty)
    clock.advance(by: 3570)
    #expect(try await take(queue).map(\.id) == ["1"])
  }

  @Test func `an account whose renewal leaves an expired token is due again after 10 s`()
    async throws
  {
    let queue = await queue(1)
    let account = try #require(try await take(queue).first)
    await save("1", lifetime: 0)
    try await queue.finish(account, with: await store.load("1"))
    clock.advance(by: 9)
    #expect(try await take(queue).isEmpty)
    clock.advance(by: 1)
    #expect(try await take(queue).map(\.id) == ["1"])
  }

  @Test func `a postponed account that nothing saves is due again at the end of the postponement`()
    async throws
  {
    let queue = await queue(1)
    let account = try #require(try await take(queue).first)
    try await queue.postpone(account, by: .seconds(600))
    clock.advance(by: 599)
    #expect(try await take(queue).isEmpty)
    clock.advance(by: 1)
    #expect(try await take(queue).map(\.id) == ["1"])
  }
}
