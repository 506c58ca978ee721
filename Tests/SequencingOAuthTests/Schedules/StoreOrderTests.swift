import Basics
import Foundation
import TestSupport
import Testing

@testable import SequencingOAuth

/// The store after a failure of its own: never an older token over a newer one.
@Suite(.timeLimit(.minutes(1))) struct StoreOrderTests {
  /// T2 in memory, which the store refused, T1 in the store, and a timer that will offer T2 again.
  func unsaved() async throws -> SessionFixture {
    let bench = try await SessionFixture().updating()
    bench.store.fails(toSave: true)
    try await bench.module.refresh()
    bench.store.fails()
    #expect(await bench.store.content() == "T1 R1")
    return bench
  }

  @Test func `a token that the store refused is offered again`() async throws {
    let bench = try await unsaved()
    await bench.clock.hasSleeper()
    bench.clock.advance(by: 1)
    try await eventually { await bench.store.content() == "T2 R2" }
  }

  @Test func `it is not offered behind the one that replaces it`() async throws {
    let bench = try await unsaved()
    await bench.clock.hasSleeper()
    bench.store.saving.close()
    let refresh = begin { try await bench.module.refresh() }
    try await bench.store.saving.isHolding()
    bench.clock.advance(by: 2)
    for _ in 0..<200 { await Task.yield() }
    bench.store.saving.open()
    #expect(try await refresh.value.refreshToken == "R3")
    _ = try await bench.module.session.account.load()
    #expect(await bench.store.content() == "T3 R3")
    // The second time before R2 was sent.
    #expect(bench.store.saves == ["save T2 R2", "save T2 R2", "save T3 R3"])
  }

  @Test func `it is not offered again once the app goes on with another token`() async throws {
    let bench = try await unsaved()
    let kept = SQToken(accessToken: "kept", refreshToken: "K", issueDate: bench.clock.now + 1)
    let session = bench.module.session
    let finish = session.adopt(bench.record(kept))
    bench.clock.advance(by: 2)
    await session.saveAgain(at: session.now)
    _ = await finish()
    #expect(bench.store.saves == ["save T2 R2", "save kept K"])
  }

  /// By its date the stored token, which was spent, would be the younger one.
  @Test func `a clock that was moved back makes no spent token the newer one`() async throws {
    let bench = try await SessionFixture().restored()
    bench.clock.advance(by: -7200)
    bench.store.fails(toSave: true)
    try await bench.module.refresh()
    bench.store.fails()
    #expect(try await bench.module.refresh().refreshToken == "R3")
    #expect(bench.refreshes == ["R1", "R2"])
    #expect(await bench.store.content() == "T3 R3")
  }

  @Test func `an outdated copy is not written over what cannot be read`() async throws {
    let bench = try SessionFixture()
    let copy = bench.server.issue(at: bench.clock.now)
    bench.clock.advance(by: 60)
    await bench.store.memory.save(bench.record(bench.server.issue(at: bench.clock.now)))
    bench.store.fails(toLoad: true)
    bench.oauth.launchTokenTimerUpdate(with: copy)
    #expect(await bench.observer.words(1) == ["failed store_failed"])
    #expect(await bench.store.content() == "T2 R2")
    bench.store.fails()
    #expect(try await bench.module.refresh().accessToken == "T2", "the store's is the newest")
    #expect(bench.refreshes.isEmpty)
  }

  @Test func `an end that the store refuses is made up for before it is read`() async throws {
    let bench = try await SessionFixture().restored()
    bench.store.fails(toErase: true)
    await failure(.storeFailed) { try await bench.module.clearAccessToken() }
    await failure(.storeFailed) { try await bench.module.token() }
    #expect(await bench.store.content() == "T1 R1")
    bench.store.fails()
    await failure(.notAuthorized) { try await bench.module.token() }
    #expect(await bench.store.content() == nil)
    let token = try await bench.oauth.signIn()
    #expect(await bench.store.content() == ScriptedStore.words(token))
  }

  @Test func `an end that the store refuses takes nothing from the next sign-in`() async throws {
    let bench = try await SessionFixture().restored()
    bench.store.saving.close()
    let refresh = begin { try await bench.module.refresh() }
    try await bench.store.saving.isHolding()
    bench.store.fails(toErase: true)
    let erase = bench.module.endSession()
    let grant = begin {
      try await bench.module.requestAccessToken(grantType: "urn:example:grant")
    }
    try await eventually { bench.module.session.account.lastWrite !== erase }
    bench.store.saving.open()
    await failure(.storeFailed) { try await erase.wait().get() }
    _ = await refresh.result
    _ = try await grant.value
    let token = try await bench.module.refresh()
    #expect(await bench.store.content() == ScriptedStore.words(token))
    #expect(bench.store.calls.count { $0 == "erase" } == 1)
  }
}
