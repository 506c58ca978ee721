import Dispatch
import Foundation
import SQBasics
import SequencingOAuth
import Testing

@testable import TestSupport

/// A token is stored before callers get it, and a failure of the store does not lose it.
@Suite("A session and its store", .timeLimit(.minutes(1))) struct StoreFailureTests {
  @Test func `no caller gets the new token before it is stored`() async throws {
    let fixture = try await SessionFixture().restored()
    let module = fixture.module
    let stream = RefreshRecorder.listening(to: module.events())
    fixture.store.saving.close()
    let caller = begin { try await module.refresh() }
    try await fixture.store.saving.isHolding()
    #expect(fixture.memory == "T1 R1" && module.validToken?.accessToken == "T1")
    #expect(fixture.oauth.result.token?.accessToken == "T1")
    #expect(try await module.token().accessToken == "T1")
    #expect(module.authorizationFields == ["Authorization": "Bearer T1"])
    let other = begin { try await module.refresh() }
    #expect(fixture.observer.words.isEmpty && stream.words.isEmpty)
    #expect(await fixture.store.content() == "T1 R1")
    fixture.store.saving.open()
    #expect(try await caller.value.accessToken == "T2")
    #expect(try await other.value.accessToken == "T2")
    #expect(await fixture.store.content() == "T2 R2" && fixture.memory == "T2 R2")
    #expect(await fixture.observer.words(1) == ["refreshed T2"])
    #expect(fixture.store.saves == ["save T2 R2"], "once for each refresh")
  }

  @Test func `a delegate is notified only after the token is in the store`() async throws {
    let fixture = try await SessionFixture().restored()
    let module = fixture.module
    fixture.store.saving.close()
    let caller = begin { try await module.refresh() }
    try await fixture.store.saving.isHolding()
    await fixture.oauth.delegatesWereCalled()
    #expect(fixture.observer.words.isEmpty)
    fixture.store.saving.open()
    #expect(await fixture.observer.words(1) == ["refreshed T2"])
    #expect(await fixture.store.content() == "T2 R2")
    _ = try await caller.value
  }

  @Test func `a flush waits until a new token or a sign-out is stored`() async throws {
    let fixture = try await SessionFixture().restored()
    let module = fixture.module
    let store = fixture.store
    store.saving.close()
    let caller = begin { try await module.refresh() }
    try await store.saving.isHolding()
    let flushing = begin {
      try await module.flush()
      return (module.currentToken?.accessToken, await store.content())
    }
    #expect(await store.content() == "T1 R1")
    store.saving.open()
    let (token, content) = try await flushing.value
    #expect(token == "T2" && content == "T2 R2")
    _ = try await caller.value

    fixture.oauth.userDidSignOut()
    try await module.flush()
    #expect(await store.content() == nil)
  }

  @Test func `a store that fails to save does not end the session, and the failure is reported`()
    async throws
  {
    let fixture = try await SessionFixture().restored()
    fixture.store.fails(toSave: true)
    #expect(try await fixture.module.refresh().accessToken == "T2", "the token is good")
    #expect(fixture.memory == "T2 R2")
    #expect(await fixture.observer.words(2) == ["refreshed T2", "failed store_failed"])
    guard case .refreshFailed(let error) = fixture.observer.events.last else { return }
    #expect(error.cause is ScriptedStore.Full)
    #expect(!everyText(of: error).contains("T2"))
    // R2 is sent only after the store has it.
    fixture.clock.advance(by: 3600)
    await failure(.storeFailed) { try await fixture.module.token() }
    #expect(fixture.refreshes == ["R1"] && fixture.memory == "T2 R2")
    fixture.store.fails()
    fixture.clock.advance(by: 10)
    #expect(try await fixture.module.token().accessToken == "T3")
    #expect(fixture.refreshes == ["R1", "R2"])
    #expect(await fixture.store.content() == "T3 R3")
  }

  @Test func `a flush repeats a failed save or erasure, or throws the store's error`() async throws
  {
    let fixture = try await SessionFixture().restored()
    fixture.store.fails(toSave: true)
    try await fixture.module.refresh()
    let error = await failure(.storeFailed) { try await fixture.module.flush() }
    #expect(error?.cause is ScriptedStore.Full)
    fixture.store.fails()
    // The back-off is for the timer. A program that is about to end has no time for a back-off.
    try await fixture.module.flush()
    #expect(await fixture.store.content() == "T2 R2")
    fixture.store.fails(toErase: true)
    fixture.oauth.userDidSignOut()
    await failure(.storeFailed) { try await fixture.module.flush() }
    fixture.store.fails()
    try await fixture.module.flush()
    #expect(await fixture.store.content() == nil)
  }

  @Test func `a flush tries to save a one-time refresh token until the store accepts it`()
    async throws
  {
    let fixture = try await SessionFixture().restored()
    fixture.oauth.environment.storeRetryTime = .seconds(30)
    fixture.store.fails(toSave: true)
    try await fixture.module.refresh()
    let module = fixture.module
    let flushing = begin { try await module.flush() }
    try await eventually("a second attempt") { fixture.store.saves.count >= 3 }
    fixture.store.fails()
    try await flushing.value
    #expect(await fixture.store.content() == "T2 R2")
  }

  @Test func `a flush tries to save only once if the refresh token can be used again`() async throws
  {
    let fixture = try await SessionFixture().restored()
    fixture.oauth.environment.storeRetryTime = .seconds(3600)
    fixture.server.change { $0.refreshToken = "" }
    fixture.store.fails(toSave: true)
    try await fixture.module.refresh()
    await failure(.storeFailed) { try await fixture.module.flush() }
  }

  /// A program that is about to end has cancelled its tasks before it flushes.
  @Test func `a flush goes on when its task is cancelled`() async throws {
    let fixture = try await SessionFixture().restored()
    let module = fixture.module
    fixture.server.gate.close()
    let caller = begin { try await module.refresh() }
    try await fixture.server.gate.isHolding()
    let flushing = begin { try await module.flush() }
    flushing.cancel()
    caller.cancel()
    fixture.server.gate.open()
    try await flushing.value
    #expect(await fixture.store.content() == "T2 R2")
  }

  @Test func `the timer saves an unsaved token again after each back-off`() async throws {
    let fixture = try await SessionFixture().updating()
    fixture.store.fails(toSave: true)
    try await fixture.module.refresh()
    for (attempts, seconds) in [(2, 1.0), (3, 2), (4, 4)] {
      await fixture.clock.hasSleeper()
      fixture.clock.advance(by: seconds - 0.01)
      #expect(fixture.store.saves.count == attempts - 1)
      await fixture.clock.hasSleeper()
      fixture.clock.advance(by: 0.01)
      try await eventually { fixture.store.saves.count == attempts }
    }
    fixture.store.fails()
    await fixture.clock.hasSleeper()
    fixture.clock.advance(by: 8)
    try await eventually { await fixture.store.content() == "T2 R2" }
    #expect(fixture.refreshes == ["R1"])
    #expect(Set(fixture.store.saves) == ["save T2 R2"])
  }

  /// A program that refreshes on demand has no timer, and may end at any time.
  @Test func `if the timer is off, a call to token saves an unsaved token again`() async throws {
    let fixture = try await SessionFixture().restored()
    fixture.store.fails(toSave: true)
    try await fixture.module.refresh()
    fixture.store.fails()
    fixture.clock.advance(by: 1)
    for _ in 0..<3 { _ = try await fixture.module.token() }
    try await eventually("it is stored") { await fixture.store.content() == "T2 R2" }
    #expect(fixture.refreshes == ["R1"])
  }

  @Test func `an older token in the store does not replace an unsaved token`() async throws {
    let fixture = try await SessionFixture().restored()
    fixture.store.fails(toSave: true)
    fixture.clock.advance(by: 5)
    try await fixture.module.refresh()
    fixture.store.fails()
    fixture.clock.advance(by: 3600)
    // T1 is still in the store, and is older.
    #expect(try await fixture.module.token().accessToken == "T3")
    #expect(fixture.refreshes == ["R1", "R2"])
    #expect(await fixture.store.content() == "T3 R3")
  }

  @Test func `a store that cannot be read at the start is not treated as a sign-out`() async throws
  {
    let other = try SessionFixture()
    other.store.fails(toLoad: true)
    let error = await failure(.storeFailed) { try await other.module.token() }
    #expect(error?.requiresSignIn == false, "the user may be signed in")
  }

  @Test func `a sign-out that the store failed to write is repeated before the store is read`()
    async throws
  {
    let fixture = try await SessionFixture().restored()
    fixture.store.fails(toErase: true)
    await failure(.storeFailed) { try await fixture.oauth.signOut() }
    await failure(.storeFailed) { try await fixture.module.token() }
    await failure(.storeFailed) { try await fixture.module.restore() }
    #expect(fixture.memory == nil)
    fixture.store.fails()
    await failure(.notAuthorized) { try await fixture.module.token() }
    #expect(await fixture.store.content() == nil)
    #expect(fixture.requests.isEmpty)
  }

  /// The app may be on its main thread, or hold a lock that its store needs.
  @Test func `userDidSignOut returns even if the store blocks`() async throws {
    final class Blocking: TokenStore {
      let memory = MemoryTokenStore()
      let isFree = DispatchSemaphore(value: 0)
      let wasFreed = Locked<Bool?>(nil)
      func load(_ id: String) async throws -> AccountRecord? { await memory.load(id) }
      func save(_ record: AccountRecord) async throws { await memory.save(record) }
      func list() async throws -> [String] { await memory.list() }
      func erase(_ id: String) async throws {
        block()
        await memory.erase(id)
      }
      private func block() {
        let result = isFree.wait(timeout: .now() + 30)
        wasFreed.withLock { $0 = result == .success }
      }
    }
    let fixture = try await SessionFixture().restored()
    let store = Blocking()
    fixture.oauth.environment.tokenStore = store
    fixture.oauth.userDidSignOut()
    store.isFree.signal()
    try await eventually { store.wasFreed.withLock(\.self) != nil }
    #expect(store.wasFreed.withLock(\.self) == true)
  }

  /// If the old token were saved after the new one, the old token would replace the new one.
  @Test func `a late save of an old token does not replace a newer one`() async throws {
    let fixture = try await SessionFixture().updating()
    let module = fixture.module
    fixture.store.fails(toSave: true)
    try await module.refresh()
    fixture.store.fails()
    await fixture.clock.hasSleeper()
    fixture.store.saving.close()
    let caller = begin { try await module.refresh() }
    try await fixture.store.saving.isHolding()
    // The refresh saves T2 before it sends R2, so the timer does not.
    fixture.clock.advance(by: 10)
    fixture.store.saving.open()
    #expect(try await caller.value.accessToken == "T3")
    await fixture.clock.hasSleeper()
    #expect(fixture.store.saves == ["save T2 R2", "save T2 R2", "save T3 R3"])
    #expect(await fixture.store.content() == "T3 R3")
  }

  @Test func `a late save does not bring back a user who signed out meanwhile`() async throws {
    let fixture = try await SessionFixture().updating()
    fixture.store.fails(toSave: true)
    try await fixture.module.refresh()
    fixture.store.fails()
    await fixture.clock.hasSleeper()
    fixture.store.loading.close()
    fixture.clock.advance(by: 1)
    try await fixture.store.loading.isHolding()
    fixture.oauth.userDidSignOut()
    fixture.store.loading.open()
    try await fixture.module.flush()
    try await eventually { fixture.clock.sleepers == 0 }
    #expect(await fixture.store.content() == nil)
    #expect(fixture.store.saves == ["save T2 R2"], "only the one that failed")
  }

  @Test func `a late save of one user's token does not replace another user's`() async throws {
    let fixture = try await SessionFixture().updating()
    let oauth = fixture.oauth
    fixture.store.fails(toSave: true)
    try await fixture.module.refresh()
    fixture.store.fails()
    await fixture.clock.hasSleeper()
    fixture.store.saving.close()
    let signIn = begin { try await oauth.signIn() }
    try await fixture.store.saving.isHolding()
    fixture.clock.advance(by: 10)
    fixture.store.saving.open()
    #expect(try await signIn.value.accessToken == "T3")
    await fixture.clock.hasSleeper()
    #expect(await fixture.store.content() == "T3 R3")
    #expect(fixture.memory == "T3 R3")
  }
}
