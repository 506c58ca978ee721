import Foundation
import SQBasics
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// The order of writes after a store has failed: an older token never replaces a newer one.
@Suite(.timeLimit(.minutes(1))) struct StoreOrderTests {
  /// Returns a session with T2 in memory, T1 in the store, and a timer that will save T2 again.
  func unsaved() async throws -> SessionFixture {
    let fixture = try await SessionFixture().updating()
    fixture.store.fails(toSave: true)
    try await fixture.module.refresh()
    fixture.store.fails()
    #expect(await fixture.store.content() == "T1 R1")
    return fixture
  }

  @Test func `a token that the store failed to save is saved later`() async throws {
    let fixture = try await unsaved()
    await fixture.clock.hasSleeper()
    fixture.clock.advance(by: 1)
    try await eventually { await fixture.store.content() == "T2 R2" }
  }

  @Test func `an unsaved token is not written after the token that replaced it`() async throws {
    let fixture = try await unsaved()
    await fixture.clock.hasSleeper()
    fixture.store.saving.close()
    let refresh = begin { try await fixture.module.refresh() }
    try await fixture.store.saving.isHolding()
    fixture.clock.advance(by: 2)
    for _ in 0..<200 { await Task.yield() }
    fixture.store.saving.open()
    #expect(try await refresh.value.refreshToken == "R3")
    _ = try await fixture.module.session.account.load()
    #expect(await fixture.store.content() == "T3 R3")
    // T2 is saved the second time before R2 is sent.
    #expect(fixture.store.saves == ["save T2 R2", "save T2 R2", "save T3 R3"])
  }

  @Test func `an unsaved token is not written again after the app adopts another token`()
    async throws
  {
    let fixture = try await unsaved()
    let kept = SQToken(accessToken: "kept", refreshToken: "K", issueDate: fixture.clock.now + 1)
    let session = fixture.module.session
    let finish = session.adopt(fixture.record(kept))
    fixture.clock.advance(by: 2)
    await session.saveAgain(at: session.now)
    _ = await finish()
    #expect(fixture.store.saves == ["save T2 R2", "save kept K"])
  }

  /// After the clock moved back, the stored T1 has a later date than T2, although R1 was already
  /// sent.
  @Test func `after the clock moves back, a used refresh token in the store is not sent again`()
    async throws
  {
    let fixture = try await SessionFixture().restored()
    fixture.clock.advance(by: -7200)
    fixture.store.fails(toSave: true)
    try await fixture.module.refresh()
    fixture.store.fails()
    #expect(try await fixture.module.refresh().refreshToken == "R3")
    #expect(fixture.refreshes == ["R1", "R2"])
    #expect(await fixture.store.content() == "T3 R3")
  }

  @Test func `an outdated token from the app does not replace a stored record that cannot be read`()
    async throws
  {
    let fixture = try SessionFixture()
    let copy = fixture.server.issue(at: fixture.clock.now)
    fixture.clock.advance(by: 60)
    await fixture.store.memory.save(fixture.record(fixture.server.issue(at: fixture.clock.now)))
    fixture.store.fails(toLoad: true)
    fixture.oauth.launchTokenTimerUpdate(with: copy)
    #expect(await fixture.observer.words(1) == ["failed store_failed"])
    #expect(await fixture.store.content() == "T2 R2")
    fixture.store.fails()
    #expect(try await fixture.module.refresh().accessToken == "T2", "the store's is the newest")
    #expect(fixture.refreshes.isEmpty)
  }

  @Test func `an erasure that failed is repeated before the store is read`() async throws {
    let fixture = try await SessionFixture().restored()
    fixture.store.fails(toErase: true)
    await failure(.storeFailed) { try await fixture.module.signOut() }
    await failure(.storeFailed) { try await fixture.module.token() }
    #expect(await fixture.store.content() == "T1 R1")
    fixture.store.fails()
    await failure(.notAuthorized) { try await fixture.module.token() }
    #expect(await fixture.store.content() == nil)
    let token = try await fixture.oauth.signIn()
    #expect(await fixture.store.content() == ScriptedStore.words(token))
  }

  @Test func `an erasure that failed does not erase the next sign-in`() async throws {
    let fixture = try await SessionFixture().restored()
    fixture.store.saving.close()
    let refresh = begin { try await fixture.module.refresh() }
    try await fixture.store.saving.isHolding()
    fixture.store.fails(toErase: true)
    let erase = fixture.module.forgetSession()
    let grant = begin {
      try await fixture.module.requestAccessToken(grantType: "urn:example:grant")
    }
    try await eventually { fixture.module.session.account.lastWrite !== erase }
    fixture.store.saving.open()
    await failure(.storeFailed) { try await erase.wait().get() }
    _ = await refresh.result
    _ = try await grant.value
    let token = try await fixture.module.refresh()
    #expect(await fixture.store.content() == ScriptedStore.words(token))
    #expect(fixture.store.calls.count { $0 == "erase" } == 1)
  }
}
