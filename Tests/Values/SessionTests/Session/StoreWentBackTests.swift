import Foundation
import SQBasics
import SequencingOAuth
import Testing

@testable import TestSupport

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
