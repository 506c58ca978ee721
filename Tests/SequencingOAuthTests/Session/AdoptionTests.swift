import Foundation
import SequencingOAuth
import TestSupport
import Testing

/// A token that the app holds, given to a module.
@Suite(.timeLimit(.minutes(1))) struct AdoptionTests {
  @Test func `a valid one is current and stored, and no request is made`() async throws {
    let bench = try SessionFixture()
    let held = bench.server.issue(at: bench.clock.now)
    #expect(try await bench.module.adopt(held) == held)
    #expect(bench.module.currentToken == held && bench.module.isAuthorized)
    #expect(await bench.store.content() == "T1 R1")
    #expect(bench.requests.isEmpty && bench.observer.words.isEmpty)
    #expect(!bench.module.refreshesAutomatically && bench.clock.sleepers == 0)
  }

  @Test func `it is current before the store has been asked`() async throws {
    let bench = try SessionFixture()
    bench.store.loading.close()
    let (module, held) = (bench.module, bench.server.issue(at: bench.clock.now))
    let adoption = begin { try await module.adopt(held) }
    try await bench.store.loading.isHolding()
    #expect(module.validToken == held)
    bench.store.loading.open()
    #expect(try await adoption.value == held)
  }

  @Test func `an expired one is refreshed when it is needed`() async throws {
    let bench = try SessionFixture()
    let held = bench.server.issue(at: bench.clock.now - 7200)
    #expect(try await bench.module.adopt(held) == held)
    #expect(bench.requests.isEmpty && !bench.module.isAuthorized)
    #expect(try await bench.module.token().accessToken == "T2")
    #expect(bench.refreshes == ["R1"])
  }

  @Test func `the timer keeps it fresh where the app asks for that`() async throws {
    let bench = try SessionFixture()
    bench.module.refreshesAutomatically = true
    try await bench.module.adopt(bench.server.issue(at: bench.clock.now))
    await bench.clock.hasSleeper()
    bench.clock.advance(by: 3204)
    #expect(await bench.observer.words(1) == ["refreshed T2"])
  }

  @Test func `an outdated copy does not replace the token that is held`() async throws {
    let bench = try await SessionFixture().restored()
    let outdated = try #require(bench.module.currentToken)
    bench.clock.advance(by: 3600)
    _ = try await bench.module.token()
    #expect(try await bench.module.adopt(outdated).accessToken == "T2")
    #expect(bench.memory == "T2 R2")
    #expect(await bench.store.content() == "T2 R2")
  }

  @Test func `an outdated copy does not replace the token that is stored`() async throws {
    let bench = try SessionFixture()
    let outdated = bench.server.issue(at: bench.clock.now)
    await bench.store.memory.save(bench.record(bench.server.issue(at: bench.clock.now + 1800)))
    bench.clock.advance(by: 1800)
    #expect(try await bench.module.adopt(outdated).accessToken == "T2")
    #expect(bench.store.saves.isEmpty && bench.memory == "T2 R2")
  }

  @Test(arguments: [true, false])
  func `a store that fails is thrown, and the token is current all the same`(
    toSave: Bool
  ) async throws {
    let bench = try SessionFixture()
    bench.store.fails(toLoad: !toSave, toSave: toSave)
    let (module, held) = (bench.module, bench.server.issue(at: bench.clock.now))
    await failure(.storeFailed) { try await module.adopt(held) }
    #expect(module.validToken == held)
    bench.store.fails()
    try await module.settle()
    #expect(await bench.store.content() == "T1 R1")
  }

  @Test func `a sign-out meanwhile wins`() async throws {
    let bench = try SessionFixture()
    bench.store.saving.close()
    let (module, held) = (bench.module, bench.server.issue(at: bench.clock.now))
    let adoption = begin { try await module.adopt(held) }
    try await bench.store.saving.isHolding()
    bench.oauth.userDidSignOut()
    bench.store.saving.open()
    await failure(.cancelled) { try await adoption.value }
    try await bench.oauth.signOut()
    #expect(bench.memory == nil)
    #expect(await bench.store.content() == nil)
  }

  @Test func `a cancelled task leaves nothing half done`() async throws {
    let bench = try SessionFixture()
    bench.store.saving.close()
    let (module, held) = (bench.module, bench.server.issue(at: bench.clock.now))
    let adoption = begin { try await module.adopt(held) }
    try await bench.store.saving.isHolding()
    adoption.cancel()
    bench.store.saving.open()
    #expect(try await adoption.value == held)
    #expect(await bench.store.content() == "T1 R1")
  }

  @Test func `without a client nothing is taken over`() async throws {
    let oauth = SQOAuth()
    await failure(.notRegistered) {
      try await oauth.module.adopt(SQToken(accessToken: "T", refreshToken: "R"))
    }
    #expect(oauth.module.currentToken == nil && oauth.module.configuration == nil)
  }
}
