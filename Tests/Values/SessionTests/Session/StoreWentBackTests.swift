import Foundation
import SQBasics
import SequencingOAuth
import Testing

@testable import TestSupport

/// A shared database that goes back to an earlier record just before a save.
private final class FailingOverStore: ComparingTokenStore {
  let memory = MemoryTokenStore()
  private let failovers = Locked<[AccountRecord]>([])

  /// Makes each of the next saves find this record.
  func goesBack(to record: AccountRecord, times: Int) {
    failovers.withLock { $0 = Array(repeating: record, count: times) }
  }

  func load(_ id: String) async throws -> AccountRecord? { await memory.load(id) }
  func erase(_ id: String) async throws { await memory.erase(id) }
  func list() async throws -> [String] { await memory.list() }
  func lease(_ id: String) async throws -> AccountLease? { AccountLease {} }

  func save(_ record: AccountRecord) async throws {
    if let earlier = failovers.withLock({ $0.popLast() }) {
      await memory.save(earlier)
      throw SQOAuthError(.accountChanged, "the database has another record")
    }
    await memory.save(record)
  }

  func erase(_ id: String, ifTokenIsIn tokens: [SQToken]) async throws(SQOAuthError) {
    await memory.erase(id)
  }
}

/// A store that lost what a session saved, as after a failover or from a restored backup.
@Suite("A store that lost its newest records", .timeLimit(.minutes(1))) struct StoreWentBackTests {
  /// Returns a session that refreshed twice after its sign-in, and the store's record before each
  /// refresh.
  private func refreshed() async throws -> (SessionFixture, stored: [AccountRecord]) {
    let fixture = try SessionFixture()
    var stored: [AccountRecord] = []
    _ = try await fixture.oauth.signIn()
    for _ in 1...2 {
      stored.append(try #require(await fixture.store.memory.load("default")))
      try await fixture.module.refresh()
    }
    return (fixture, stored)
  }

  @Test(arguments: [0, 1])
  func `if the store has an older record, the newest token is used and saved again`(
    generation: Int
  ) async throws {
    let (fixture, stored) = try await refreshed()
    await fixture.store.memory.save(stored[generation])
    let token = try await fixture.module.refresh()
    #expect(token.accessToken == "T4")
    #expect(fixture.refreshes == ["R1", "R2", "R3"])
    #expect(fixture.store.saves.suffix(2) == ["save T3 R3", "save T4 R4"])
    #expect(await fixture.store.content() == "T4 R4")
  }

  /// The first save is that of the refresh; a flush saves again.
  @Test(arguments: [1, 2])
  func `if the store goes back before a save, the new token is kept and saved again`(
    times: Int
  ) async throws {
    let fixture = try SessionFixture()
    let store = FailingOverStore()
    fixture.oauth.environment.tokenStore = store
    _ = try await fixture.oauth.signIn()
    let earlier = try #require(await store.memory.load("default"))
    try await fixture.module.refresh()
    store.goesBack(to: earlier, times: times)
    #expect(try await fixture.module.refresh().accessToken == "T3")
    #expect(fixture.memory == "T3 R3")
    if times == 2 {
      await failure(.accountChanged) { try await fixture.module.flush() }
      #expect(fixture.memory == "T3 R3")
    }
    #expect(await store.memory.load("default") == earlier)
    try await fixture.module.flush()
    #expect(await store.memory.load("default")?.token.refreshToken == "R3")
    #expect(fixture.refreshes == ["R1", "R2"])
  }

  @Test func `a newer record of another process is still adopted`() async throws {
    let (fixture, _) = try await refreshed()
    let other = try SessionFixture()
    let record = try #require(await fixture.store.memory.load("default"))
    await other.store.memory.save(record)
    try await other.module.restore()
    other.server.next { _ in
      WebResponse(
        status: 200, headers: ["Content-Type": "application/json"],
        body: Data(
          #"{"access_token":"O","token_type":"Bearer","refresh_token":"P","expires_in":60}"#.utf8))
    }
    try await other.module.refresh()
    await fixture.store.memory.save(try #require(await other.store.memory.load("default")))
    #expect(try await fixture.module.refresh().accessToken == "O")
    #expect(fixture.refreshes == ["R1", "R2"])
    #expect(await fixture.observer.words(3).last == "taken over O")
  }

  @Test func `a new sign-in is adopted even if it was never refreshed`() async throws {
    let (fixture, _) = try await refreshed()
    let other = try SessionFixture()
    _ = try await other.oauth.signIn()
    await fixture.store.memory.save(try #require(await other.store.memory.load("default")))
    #expect(try await fixture.module.refresh().accessToken == "T1")
    #expect(fixture.refreshes == ["R1", "R2"])
    #expect(await fixture.observer.words(3).last == "replaced T1")
  }
}
