import Foundation
import SQBasics
import SequencingOAuth
import Testing

@testable import TestSupport

/// A token that the app stored itself and passes to the SDK at launch.
@Suite("A token that the app stored", .timeLimit(.minutes(1))) struct ResumeTests {
  @Test func `a valid token is current at once, and the timer runs`() async throws {
    let fixture = try SessionFixture()
    let saved = fixture.server.issue(at: fixture.clock.now)
    fixture.oauth.launchTokenTimerUpdate(with: saved)
    #expect(fixture.oauth.result.token == saved && fixture.oauth.validToken == saved)
    try await eventually { await fixture.store.content() == "T1 R1" }
    await fixture.clock.hasSleeper()
    #expect(fixture.requests.isEmpty && fixture.observer.words.isEmpty)
    fixture.clock.advance(by: 3204)
    #expect(await fixture.observer.words(1) == ["refreshed T2"])
  }

  @Test func `an expired token is refreshed, and the timer runs`() async throws {
    let fixture = try SessionFixture()
    fixture.server.gate.close()
    fixture.oauth.launchTokenTimerUpdate(with: fixture.server.issue(at: fixture.clock.now - 7200))
    #expect(fixture.oauth.validToken == nil && fixture.oauth.result.token?.accessToken == "T1")
    fixture.server.gate.open()
    #expect(await fixture.observer.words(1) == ["refreshed T2"])
    await fixture.clock.hasSleeper()
    #expect(fixture.refreshes == ["R1"] && fixture.memory == "T2 R2")
    fixture.clock.advance(by: 3204)
    #expect(await fixture.observer.words(2).last == "refreshed T3")
  }

  @Test func `an expired token without a refresh token causes no request`() async throws {
    let fixture = try SessionFixture()
    fixture.oauth.launchTokenTimerUpdate(
      with: SQToken(accessToken: "T", expirationDate: fixture.clock.now - 1))
    await failure(.notAuthorized) { try await fixture.oauth.token() }
    #expect(fixture.requests.isEmpty && fixture.oauth.result.token?.accessToken == "T")
  }

  /// An app that migrates from the CocoaPod has only its two token strings.
  @Test func `a token that the app made from two strings is refreshed`() async throws {
    let fixture = try SessionFixture()
    fixture.server.expect("R0")
    let saved = SQToken(accessToken: "T0", refreshToken: "R0")
    #expect(try await fixture.oauth.refresh(with: saved).accessToken == "T1")
    #expect(fixture.refreshes == ["R0"])
  }

  /// The token may be newer than the one in memory, because its age is unknown.
  @Test func `a token without a date replaces the one in memory`() async throws {
    let fixture = try await SessionFixture().restored()
    fixture.oauth.launchTokenTimerUpdate(with: SQToken(accessToken: "T0", refreshToken: "R0"))
    #expect(fixture.memory == "T0 R0")
    try await eventually { await fixture.store.content() == "T0 R0" }
  }

  @Test func `a refresh with a stored token returns a new token and notifies the delegate once`()
    async throws
  {
    let fixture = try SessionFixture()
    let saved = fixture.server.issue(at: fixture.clock.now)
    let token = try await fixture.completion { oauth, done in
      oauth.refresh(with: saved, completion: done)
    }.get()
    #expect(token.accessToken == "T2" && token.refreshToken == "R2")
    #expect(await fixture.observer.words(1) == ["refreshed T2"])
    #expect(await fixture.store.content() == "T2 R2")
    await fixture.clock.hasSleeper()
    fixture.clock.advance(by: 3204)
    #expect(await fixture.observer.words(2).last == "refreshed T3")
    #expect(fixture.refreshes == ["R1", "R2"])
  }

  @Test func `a refresh with a stored token reports its failure and keeps the token`() async throws
  {
    let fixture = try SessionFixture()
    fixture.server.next(ScriptedTransport.json("", status: 500))
    let saved = fixture.server.issue(at: fixture.clock.now)
    let result = await fixture.completion { $0.refresh(with: saved, completion: $1) }
    failure(.serverError) { try result.get() }
    #expect(fixture.memory == "T1 R1")
    let none = await fixture.completion {
      $0.userDidSignOut()
      $0.refresh(with: SQToken(accessToken: "T"), completion: $1)
    }
    failure(.notAuthorized) { try none.get() }
  }

  @Test func `withRefreshToken returns the new token, or nil after a failure`() async throws {
    let fixture = try SessionFixture()
    let saved = fixture.server.issue(at: fixture.clock.now)
    func refresh(_ token: SQToken?) async -> SQToken? {
      await fixture.completion { $0.withRefreshToken(token, updateAccessToken: $1) }
    }
    #expect(await refresh(saved)?.accessToken == "T2")
    fixture.server.next(ScriptedTransport.json("", status: 500))
    #expect(await refresh(saved) == nil)
    #expect(await refresh(nil) == nil && fixture.memory == "T2 R2")
  }

  @Test func `an empty or missing token is rejected with an error`() async throws {
    let fixture = try SessionFixture()
    let empty = SQToken(accessToken: "", refreshToken: "")
    await failure(.notAuthorized) { try await fixture.oauth.refresh(with: empty) }
    await failure(.notAuthorized) { try await fixture.module.adopt(empty) }
    fixture.oauth.launchTokenTimerUpdate(with: empty)
    fixture.oauth.launchTokenTimerUpdate(with: nil)
    let failed = "failed not_authorized"
    #expect(await fixture.observer.words(2) == [failed, failed])
    #expect(fixture.oauth.currentToken == nil)
  }

  @Test func `without a registered client, refresh and launchTokenTimerUpdate report an error`()
    async throws
  {
    let oauth = SQOAuth()
    let observer = RefreshRecorder()
    oauth.tokenRefreshDelegate = observer
    let saved = SQToken(accessToken: "T", refreshToken: "R")
    await failure(.notRegistered) { try await oauth.refresh(with: saved) }
    let result = await withCheckedContinuation { done in
      oauth.refresh(with: saved) { done.resume(returning: $0) }
    }
    failure(.notRegistered) { try result.get() }
    oauth.launchTokenTimerUpdate(with: saved)
    #expect(await observer.words(1) == ["failed not_registered"])
    #expect(oauth.result.token == nil)
  }

  @Test func `an outdated token from the app does not replace the token in memory`() async throws {
    let fixture = try await SessionFixture().restored()
    let saved = try #require(fixture.module.currentToken)
    fixture.clock.advance(by: 3600)
    _ = try await fixture.module.token()
    fixture.oauth.launchTokenTimerUpdate(with: saved)
    #expect(fixture.memory == "T2 R2")
    #expect(try await fixture.oauth.refresh(with: saved).accessToken == "T3")
    #expect(fixture.refreshes == ["R1", "R2"], "R1 was already used")
    #expect(await fixture.store.content() == "T3 R3")
  }

  @Test func `an outdated token from the app does not change the app's attributes`() async throws {
    let fixture = try await SessionFixture().restored()
    let saved = try #require(fixture.module.currentToken)
    fixture.clock.advance(by: 3600)
    _ = try await fixture.module.token()
    fixture.module.attributes = ["name": "Alice"]
    fixture.oauth.launchTokenTimerUpdate(with: saved)
    _ = try await fixture.module.refresh()
    #expect(await fixture.store.memory.load("default")?.attributes == ["name": "Alice"])
  }

  @Test func `attributes that the app removes stay removed`() async throws {
    let fixture = try SessionFixture()
    let token = fixture.server.issue(at: fixture.clock.now)
    await fixture.store.memory.save(
      AccountRecord(
        id: "default", clientID: "client", token: token, attributes: ["name": "Alice"]))
    fixture.module.attributes = [:]
    _ = try await fixture.module.restore()
    #expect(fixture.module.attributes.isEmpty)
    _ = try await fixture.module.refresh()
    #expect(await fixture.store.memory.load("default")?.attributes == [:])
  }

  @Test func `an outdated token from the app does not replace the token in the store`() async throws
  {
    let fixture = try SessionFixture()
    let saved = fixture.server.issue(at: fixture.clock.now)
    let newer = fixture.server.issue(at: fixture.clock.now + 1800)
    await fixture.store.memory.save(fixture.record(newer))
    fixture.clock.advance(by: 1800)
    fixture.oauth.launchTokenTimerUpdate(with: saved)
    try await eventually { fixture.memory == "T2 R2" }
    #expect(fixture.store.saves.isEmpty)
    #expect(await fixture.store.content() == "T2 R2")
    #expect(await fixture.observer.words(1) == ["taken over T2"], "the app's copy is outdated")
    let other = try SessionFixture()
    await other.store.memory.save(other.record(newer))
    other.server.expect("R2")
    _ = try await other.oauth.refresh(with: saved)
    #expect(other.refreshes == ["R2"])
  }

  /// The store may have a newer token.
  @Test func `a store that cannot be read is not overwritten`() async throws {
    let fixture = try SessionFixture()
    let saved = fixture.server.issue(at: fixture.clock.now)
    let newer = fixture.server.issue(at: fixture.clock.now + 1800)
    await fixture.store.memory.save(fixture.record(newer))
    fixture.clock.advance(by: 1800)
    fixture.store.fails(toLoad: true)
    fixture.oauth.launchTokenTimerUpdate(with: saved)
    try await eventually { fixture.store.calls.contains("load") && fixture.clock.sleepers > 0 }
    #expect(await fixture.store.content() == "T2 R2")
    #expect(await fixture.observer.words(1) == ["failed store_failed"])
    fixture.store.fails()
    fixture.clock.advance(by: 1)
    try await eventually { fixture.memory == "T2 R2" }
    #expect(await fixture.store.content() == "T2 R2")
    #expect(await fixture.observer.words(2).last == "taken over T2")
  }

  @Test func `a failed save is reported, and the token is saved later`() async throws {
    let fixture = try SessionFixture()
    fixture.store.fails(toSave: true)
    fixture.oauth.launchTokenTimerUpdate(with: fixture.server.issue(at: fixture.clock.now))
    await fixture.clock.hasSleeper()
    #expect(fixture.memory == "T1 R1")
    try await eventually("the failure is reported") {
      fixture.observer.words == ["failed store_failed"]
    }
    fixture.store.fails()
    fixture.clock.advance(by: 1)
    try await eventually { await fixture.store.content() == "T1 R1" }
  }

  @Test func `the app's token replaces another client's account in the store`() async throws {
    let fixture = try SessionFixture()
    let theirs = fixture.server.issue(at: fixture.clock.now)
    await fixture.store.memory.save(fixture.record(theirs, clientID: "other"))
    fixture.oauth.launchTokenTimerUpdate(with: fixture.server.issue(at: fixture.clock.now - 60))
    try await eventually { await fixture.store.content() == "T2 R2" }
    #expect(fixture.memory == "T2 R2")
  }

  @Test(arguments: [50, 1_000])
  func `many callers that pass in the same token share one refresh`(count: Int) async throws {
    let fixture = try SessionFixture()
    let oauth = fixture.oauth
    let saved = fixture.server.issue(at: fixture.clock.now - 7200)
    fixture.server.gate.close()
    let callers = (0..<count).map { _ in begin { try await oauth.refresh(with: saved) } }
    oauth.launchTokenTimerUpdate(with: saved)
    try await fixture.server.gate.isHolding()
    fixture.server.gate.open()
    for caller in callers { #expect(try await caller.value.accessToken == "T2") }
    #expect(fixture.refreshes == ["R1"])
  }

  /// Callers that waited for the store continue one after the other, when the refresh may already
  /// be over.
  @Test func `callers that wait for the store at the same time cause only one refresh`()
    async throws
  {
    for _ in 0..<50 {
      let fixture = try SessionFixture()
      let oauth = fixture.oauth
      let saved = fixture.server.issue(at: fixture.clock.now - 7200)
      fixture.store.loading.close()
      let callers = (0..<100).map { _ in begin { try await oauth.refresh(with: saved) } }
      try await fixture.store.loading.isHolding()
      fixture.store.loading.open()
      for caller in callers { _ = try await caller.value }
      #expect(fixture.refreshes == ["R1"])
    }
  }

  @Test
  func `a sign-out while the token is being stored leaves no token in memory or in the store`()
    async throws
  {
    let fixture = try SessionFixture()
    fixture.store.saving.close()
    fixture.oauth.launchTokenTimerUpdate(with: fixture.server.issue(at: fixture.clock.now))
    try await fixture.store.saving.isHolding()
    fixture.oauth.userDidSignOut()
    fixture.store.saving.open()
    try await fixture.oauth.signOut()
    #expect(fixture.memory == nil)
    #expect(await fixture.store.content() == nil)
    try await eventually { fixture.clock.sleepers == 0 }
  }
}

extension SessionFixture {
  /// Returns the value that a method passes to its completion handler.
  func completion<Value: Sendable>(
    _ call: (SQOAuth, @escaping @Sendable (Value) -> Void) -> Void
  ) async -> Value {
    await withCheckedContinuation { continuation in
      call(oauth) { continuation.resume(returning: $0) }
    }
  }
}
