import Foundation
import SQBasics
import SequencingOAuth
import Testing

@testable import TestSupport

/// A token that the app holds and gives to a module.
@Suite(.timeLimit(.minutes(1))) struct AdoptionTests {
  @Test func `a valid token becomes current and is stored without a request`() async throws {
    let fixture = try SessionFixture()
    let held = fixture.server.issue(at: fixture.clock.now)
    #expect(try await fixture.module.adopt(held) == held)
    #expect(fixture.module.currentToken == held && fixture.module.isAuthorized)
    #expect(await fixture.store.content() == "T1 R1")
    #expect(fixture.requests.isEmpty && fixture.observer.words.isEmpty)
    #expect(!fixture.module.refreshesAutomatically && fixture.clock.sleepers == 0)
  }

  @Test func `a token is current before the store has answered`() async throws {
    let fixture = try SessionFixture()
    fixture.store.loading.close()
    let (module, held) = (fixture.module, fixture.server.issue(at: fixture.clock.now))
    let adoption = begin { try await module.adopt(held) }
    try await fixture.store.loading.isHolding()
    #expect(module.validToken == held)
    fixture.store.loading.open()
    #expect(try await adoption.value == held)
  }

  @Test func `an expired token is refreshed when it is needed`() async throws {
    let fixture = try SessionFixture()
    let held = fixture.server.issue(at: fixture.clock.now - 7200)
    #expect(try await fixture.module.adopt(held) == held)
    #expect(fixture.requests.isEmpty && !fixture.module.isAuthorized)
    #expect(try await fixture.module.token().accessToken == "T2")
    #expect(fixture.refreshes == ["R1"])
  }

  @Test func `the timer refreshes an adopted token if refreshesAutomatically is true`() async throws
  {
    let fixture = try SessionFixture()
    fixture.module.refreshesAutomatically = true
    try await fixture.module.adopt(fixture.server.issue(at: fixture.clock.now))
    await fixture.clock.hasSleeper()
    fixture.clock.advance(by: 3204)
    #expect(await fixture.observer.words(1) == ["refreshed T2"])
  }

  @Test func `an outdated token from the app does not replace the token in memory`() async throws {
    let fixture = try await SessionFixture().restored()
    let outdated = try #require(fixture.module.currentToken)
    fixture.clock.advance(by: 3600)
    _ = try await fixture.module.token()
    #expect(try await fixture.module.adopt(outdated).accessToken == "T2")
    #expect(fixture.memory == "T2 R2")
    #expect(await fixture.store.content() == "T2 R2")
  }

  @Test func `an outdated token from the app does not replace the token in the store`() async throws
  {
    let fixture = try SessionFixture()
    let outdated = fixture.server.issue(at: fixture.clock.now)
    await fixture.store.memory.save(
      fixture.record(fixture.server.issue(at: fixture.clock.now + 1800)))
    fixture.clock.advance(by: 1800)
    #expect(try await fixture.module.adopt(outdated).accessToken == "T2")
    #expect(fixture.store.saves.isEmpty && fixture.memory == "T2 R2")
  }

  @Test func `an outdated token from the app does not replace a sign-in that is being saved`()
    async throws
  {
    let fixture = try SessionFixture()
    let module = fixture.module
    let outdated = SQToken(
      accessToken: "old", refreshToken: "O", issueDate: fixture.clock.now - 60)
    fixture.store.saving.close()
    let signIn = begin { try await module.signIn() }
    try await fixture.store.saving.isHolding()
    let adoption = begin { try await module.adopt(outdated) }
    #expect(fixture.memory == nil)
    fixture.store.saving.open()
    #expect(try await adoption.value.accessToken == "T1")
    #expect(try await signIn.value.accessToken == "T1" && fixture.memory == "T1 R1")
    #expect(fixture.store.saves == ["save T1 R1"])
  }

  @Test(arguments: [true, false])
  func `if the store fails, adopt throws an error, but the token is current`(
    toSave: Bool
  ) async throws {
    let fixture = try SessionFixture()
    fixture.store.fails(toLoad: !toSave, toSave: toSave)
    let (module, held) = (fixture.module, fixture.server.issue(at: fixture.clock.now))
    await failure(.storeFailed) { try await module.adopt(held) }
    #expect(module.validToken == held)
    fixture.store.fails()
    try await module.flush()
    #expect(await fixture.store.content() == "T1 R1")
  }

  @Test func `a sign-out during an adoption cancels the adoption and removes the token`()
    async throws
  {
    let fixture = try SessionFixture()
    fixture.store.saving.close()
    let (module, held) = (fixture.module, fixture.server.issue(at: fixture.clock.now))
    let adoption = begin { try await module.adopt(held) }
    try await fixture.store.saving.isHolding()
    fixture.oauth.userDidSignOut()
    fixture.store.saving.open()
    await failure(.cancelled) { try await adoption.value }
    try await fixture.oauth.signOut()
    #expect(fixture.memory == nil)
    #expect(await fixture.store.content() == nil)
  }

  @Test func `a cancelled task still completes the adoption`() async throws {
    let fixture = try SessionFixture()
    fixture.store.saving.close()
    let (module, held) = (fixture.module, fixture.server.issue(at: fixture.clock.now))
    let adoption = begin { try await module.adopt(held) }
    try await fixture.store.saving.isHolding()
    adoption.cancel()
    fixture.store.saving.open()
    #expect(try await adoption.value == held)
    #expect(await fixture.store.content() == "T1 R1")
  }

  @Test func `a task that is cancelled before the store is read still completes the adoption`()
    async throws
  {
    let fixture = try SessionFixture()
    let store = CancellableStore()
    fixture.oauth.environment.tokenStore = store
    let (module, held) = (fixture.module, fixture.server.issue(at: fixture.clock.now))
    let gate = Gate(isOpen: false)
    let adoption = begin {
      await gate.opened()
      return try await module.adopt(held)
    }
    adoption.cancel()
    #expect(try await adoption.value == held)
    #expect(await store.memory.load("default")?.token == held)
  }

  @Test func `without a registered client, adopt throws an error`() async throws {
    let oauth = SQOAuth()
    await failure(.notRegistered) {
      try await oauth.module.adopt(SQToken(accessToken: "T", refreshToken: "R"))
    }
    #expect(oauth.module.currentToken == nil && oauth.module.configuration == nil)
  }
}
