import Foundation
import Testing

@testable import SQBasics
@testable import SequencingOAuth
@testable import SequencingOAuthBackend
@testable import TestSupport

/// The queue of due accounts for a store without its own queue.
@Suite("Due accounts of a store without a queue") struct PagedAccountQueueTests {
  let store = MemoryTokenStore()
  let clock = ManualClock()

  /// Creates a queue of accounts whose tokens expired the given number of seconds ago.
  private func queue(_ count: Int, expiredFor time: Double = 1) async -> PagedAccountQueue {
    for number in 1...count {
      await store.save(
        AccountRecord(
          id: "\(number)", clientID: "client", issuer: "https://id.example",
          token: SQToken(
            accessToken: "a", expirationDate: clock.now - time, refreshToken: "r",
            issueDate: clock.now - time - 9)))
    }
    return PagedAccountQueue(store, clock)
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
    // The request was not sent.
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
    // The other account was taken, and its result was never reported.
    clock.advance(by: 110)
    #expect(try await take(queue).map(\.id) == accounts.suffix(1).map(\.id))
  }
}
