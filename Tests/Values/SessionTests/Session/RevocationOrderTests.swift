import Foundation
import Testing

@testable import SQBasics
@testable import SequencingOAuth
@testable import TestSupport

/// A revocation at the same time as another change of the session.
@Suite("A revocation and other changes", .timeLimit(.minutes(1))) struct RevocationOrderTests {
  /// Holds the revocation at the server until the test lets it end.
  let server = Gate(isOpen: false)

  /// Begins to revoke the tokens of a session.
  ///
  /// The task's value is the revoked token.
  func revocation(of fixture: SessionFixture) -> Task<String?, any Error> {
    let (session, server) = (fixture.module.session, server)
    return begin {
      var ended: String?
      try await session.end(.revoked) { record in
        ended = ScriptedStore.words(record.token)
        await server.pass()
      }
      return ended
    }
  }

  @Test func `a sign-out during a revocation ends the session once`() async throws {
    let fixture = try await SessionFixture().restored()
    let revocation = revocation(of: fixture)
    try await server.isHolding()
    fixture.oauth.userDidSignOut()
    #expect(fixture.memory == nil)
    server.open()
    #expect(try await revocation.value == "T1 R1")
    try await fixture.module.flush()
    #expect(await fixture.observer.words(1) == ["ended signedOut"])
    #expect(await fixture.store.content() == nil)
    #expect(fixture.store.calls.count { $0 == "erase" } == 1)
  }

  @Test func `a user who signs in during a revocation stays signed in`() async throws {
    let fixture = try await SessionFixture().restored()
    let revocation = revocation(of: fixture)
    try await server.isHolding()
    #expect(try await fixture.oauth.signIn().accessToken == "T2")
    server.open()
    #expect(try await revocation.value == "T1 R1")
    try await fixture.module.flush()
    #expect(fixture.memory == "T2 R2" && fixture.observer.words.isEmpty)
    #expect(await fixture.store.content() == "T2 R2")
  }

  @Test func `a revocation revokes newer tokens that another process stored`() async throws {
    let fixture = try await SessionFixture().restored()
    await fixture.store.memory.save(fixture.record(fixture.server.issue(at: fixture.clock.now)))
    server.open()
    #expect(try await revocation(of: fixture).value == "T2 R2")
    #expect(await fixture.store.content() == nil)
  }

  @Test func `if the store cannot be read, a revocation of the tokens in memory throws its error`()
    async throws
  {
    let fixture = try await SessionFixture().restored()
    fixture.store.fails(toLoad: true)
    let revocation = revocation(of: fixture)
    try await server.isHolding()
    server.open()
    await failure(.storeFailed) { try await revocation.value }
    #expect(fixture.memory == nil)
    #expect(await fixture.store.content() == "T1 R1")
    fixture.store.fails()
    #expect(try await !fixture.module.restore())
    #expect(await fixture.store.content() == nil)
  }

  @Test func `if the store can be read again after a revocation, its newer tokens are revoked too`()
    async throws
  {
    let fixture = try await SessionFixture().restored()
    await fixture.store.memory.save(fixture.record(fixture.server.issue(at: fixture.clock.now)))
    fixture.store.fails(toLoad: true)
    let revocation = revocation(of: fixture)
    try await server.isHolding()
    fixture.store.fails()
    server.open()
    #expect(try await revocation.value == "T2 R2")
    #expect(fixture.memory == nil)
    #expect(await fixture.store.content() == nil)
  }

  /// The newer tokens of another process would stay valid at the server without a word.
  @Test func `if only the erasure can read the store, a revocation throws the store's error too`()
    async throws
  {
    let fixture = try SessionFixture()
    let store = StutteringStore()
    fixture.oauth.environment.tokenStore = store
    await store.save(fixture.record(fixture.server.issue(at: fixture.clock.now)))
    try await fixture.module.restore()
    await store.failToLoad(2)
    server.open()
    await failure(.storeFailed) { try await revocation(of: fixture).value }
    #expect(fixture.memory == nil)
    #expect(await store.record == nil)
  }

  /// One token is in the store, and the app brings another one while the first is being loaded.
  @Test func `a revocation waits until a token from the app is stored, and revokes that token`()
    async throws
  {
    let fixture = try SessionFixture()
    await fixture.store.memory.save(
      fixture.record(fixture.server.issue(at: fixture.clock.now - 60)))
    fixture.store.loading.close()
    fixture.store.saving.close()
    server.open()
    let revocation = revocation(of: fixture)
    try await fixture.store.loading.isHolding()
    fixture.oauth.launchTokenTimerUpdate(with: fixture.server.issue(at: fixture.clock.now))
    fixture.store.loading.open()
    try await fixture.store.saving.isHolding()
    #expect(fixture.memory == "T2 R2")
    fixture.store.saving.open()
    #expect(try await revocation.value == "T2 R2")
    #expect(fixture.memory == nil)
    #expect(await fixture.store.content() == nil)
  }

  /// The operation that a revocation or a caller waits for.
  enum Wait: CaseIterable { case refresh, takeover }

  @Test(arguments: Wait.allCases)
  func `a revocation that is cancelled while it waits does not end the session`(for wait: Wait)
    async throws
  {
    let fixture = try await SessionFixture().restored()
    let module = fixture.module
    fixture.clock.advance(by: 1)
    fixture.store.saving.close()
    if wait == .refresh {
      Task { try await module.refresh() }
    } else {
      fixture.oauth.launchTokenTimerUpdate(with: fixture.server.issue(at: fixture.clock.now))
    }
    try await fixture.store.saving.isHolding()
    let revocation = revocation(of: fixture)
    let caller = begin { try await module.refresh() }
    revocation.cancel()
    caller.cancel()
    await failure(.cancelled) { try await revocation.value }
    await failure(.cancelled) { try await caller.value }
    fixture.store.saving.open()
    try await module.flush()
    #expect(fixture.memory == "T2 R2" && server.waiting == 0)
    #expect(await fixture.store.content() == "T2 R2")
  }
}

/// A store that cannot be read some times.
private actor StutteringStore: TokenStore {
  private var failures = 0
  private(set) var record: AccountRecord?

  /// Makes the next calls of `load` fail.
  func failToLoad(_ count: Int) { failures = count }

  func load(_ id: String) throws -> AccountRecord? {
    guard failures == 0 else {
      failures -= 1
      throw SQOAuthError(.storeFailed, "the store cannot be read")
    }
    return record
  }

  func save(_ record: AccountRecord) { self.record = record }
  func erase(_ id: String) { record = nil }
  func list() -> [String] { record.map { [$0.id] } ?? [] }
}
