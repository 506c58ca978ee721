import Foundation
import SQBasics
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// An app sets another store while a user is signed in.
@Suite(.timeLimit(.minutes(1))) struct StoreChangeTests {
  /// A session with T1 and R1 in memory and in its store, and the store that the app sets later.
  let fixture: SessionFixture
  let other = ScriptedStore()

  init() async throws {
    fixture = try await SessionFixture().restored()
  }

  private func change() { fixture.oauth.environment.tokenStore = other }

  @Test func `the token is saved in the other store without a call of the app`() async throws {
    change()
    try await eventually { await other.content() == "T1 R1" }
    #expect(fixture.memory == "T1 R1" && fixture.refreshes == [])
  }

  @Test func `a refresh uses the other store, and the user stays signed in`() async throws {
    change()
    try await fixture.module.refresh()
    #expect(fixture.memory == "T2 R2")
    #expect(await other.content() == "T2 R2")
    #expect(await fixture.store.content() == "T1 R1")
    #expect(other.reservations == 1 && fixture.store.reservations == 0)
  }

  @Test func `a copy of the environment and a part in place change no store`() async throws {
    var environment = fixture.oauth.environment
    environment.refreshesWithoutStore = true
    fixture.oauth.environment = environment
    fixture.oauth.environment.landingPage.appName = "App"
    try await fixture.module.flush()
    #expect(fixture.store.calls == ["load"])
  }

  @Test func `a newer token in the other store replaces the token in memory`() async throws {
    let newer = SQToken(
      accessToken: "newer", refreshToken: "N", issueDate: fixture.clock.now + 1)
    await other.memory.save(fixture.record(newer))
    change()
    try await fixture.module.flush()
    #expect(fixture.memory == "newer N" && other.saves == [])
  }

  @Test func `an older token in the other store is replaced`() async throws {
    let older = SQToken(
      accessToken: "older", refreshToken: "O", issueDate: fixture.clock.now - 1)
    await other.memory.save(fixture.record(older))
    change()
    try await fixture.module.flush()
    #expect(await other.content() == "T1 R1")
  }

  /// The sign-in in the other store may be another user's.
  @Test func `a younger sign-in in the other store gets no request of the sign-in before`()
    async throws
  {
    let fixture = try SessionFixture()
    _ = try await fixture.oauth.signIn()
    let gate = Gate(isOpen: false)
    fixture.api { _ in
      await gate.pass()
      return WebResponse(status: 401)
    }
    let request = begin { try await fixture.module.send(.get("https://api.example/files")) }
    try await gate.isHolding()
    fixture.clock.advance(by: 1)
    await other.memory.save(
      AccountRecord(
        id: "default", clientID: "client", session: "second",
        token: fixture.server.issue(at: fixture.clock.now)))
    fixture.oauth.environment.tokenStore = other
    try await fixture.module.flush()
    #expect(fixture.memory == "T2 R2" && other.saves == [])
    #expect(await fixture.observer.words(1) == ["replaced T2"])
    gate.open()
    _ = await request.result
    #expect(fixture.requests.filter { $0.hasPrefix("GET") } == ["GET /files T1"])
  }

  @Test func `a store that fails gets the token later, and flush() throws its error`() async throws
  {
    fixture.oauth.environment.storeRetryTime = .zero
    other.fails(toSave: true)
    change()
    await failure(.storeFailed) { try await fixture.module.flush() }
    other.fails()
    try await fixture.module.flush()
    #expect(await other.content() == "T1 R1")
  }

  @Test func `a sign-out in the other store is noticed there`() async throws {
    change()
    try await fixture.module.flush()
    await other.memory.erase("default")
    await failure(.notAuthorized) { try await fixture.module.refresh() }
    #expect(fixture.refreshes == [])
    #expect(fixture.module.currentToken == nil)
  }

  @Test func `a refresh ends in the store in which it began, and its token is in both stores`()
    async throws
  {
    fixture.server.gate.close()
    let refresh = begin { [fixture] in try await fixture.module.refresh() }
    try await fixture.server.gate.isHolding()
    change()
    fixture.server.gate.open()
    #expect(try await refresh.value.refreshToken == "R2")
    #expect(await fixture.store.content() == "T2 R2")
    try await eventually { await other.content() == "T2 R2" }
    #expect(fixture.refreshes == ["R1"])
    try await fixture.module.refresh()
    #expect(fixture.memory == "T3 R3")
    #expect(await other.content() == "T3 R3")
  }

  @Test func `a sign-in that is saved during the change is in both stores`() async throws {
    let fixture = try SessionFixture()
    fixture.store.saving.close()
    let signIn = begin { try await fixture.module.signIn() }
    try await fixture.store.saving.isHolding()
    fixture.oauth.environment.tokenStore = other
    fixture.store.saving.open()
    _ = try await signIn.value
    #expect(await fixture.store.content() == "T1 R1")
    try await fixture.module.flush()
    #expect(await other.content() == "T1 R1")
  }

  @Test func `a token that is saved during the change is in both stores`() async throws {
    let adopted = SQToken(
      accessToken: "adopted", refreshToken: "A", issueDate: fixture.clock.now + 1)
    fixture.store.saving.close()
    let adoption = begin { [fixture] in try await fixture.module.adopt(adopted) }
    try await fixture.store.saving.isHolding()
    change()
    fixture.store.saving.open()
    _ = try await adoption.value
    #expect(await fixture.store.content() == "adopted A")
    try await fixture.module.flush()
    #expect(await other.content() == "adopted A")
  }

  @Test(arguments: [true, false])
  func `a load from the previous store signs no user of that store in`(hasUser: Bool) async throws {
    let fixture = try SessionFixture()
    await fixture.store.memory.save(
      fixture.record(SQToken(accessToken: "alice", refreshToken: "A")))
    if hasUser {
      await other.memory.save(fixture.record(SQToken(accessToken: "bob", refreshToken: "B")))
    }
    fixture.store.loading.close()
    let restore = begin { try await fixture.module.restore() }
    try await fixture.store.loading.isHolding()
    fixture.oauth.environment.tokenStore = other
    fixture.store.loading.open()
    #expect(try await restore.value == hasUser)
    #expect(fixture.memory == (hasUser ? "bob B" : nil) && other.saves == [])
  }

  @Test func `an erasure that failed in one store is not made in the other store`() async throws {
    fixture.store.fails(toErase: true)
    await failure(.storeFailed) { try await fixture.module.signOut() }
    await other.memory.save(fixture.record(SQToken(accessToken: "other", refreshToken: "O")))
    change()
    #expect(try await fixture.module.restore())
    try await fixture.module.flush()
    #expect(await other.content() == "other O")
    #expect(other.calls.allSatisfy { $0 == "load" })
  }

  @Test func `flush() waits for an erasure in the previous store`() async throws {
    fixture.store.erasing.close()
    let end = begin { [fixture] in try await fixture.module.signOut() }
    try await fixture.store.erasing.isHolding()
    change()
    let flush = begin { [fixture] in try await fixture.module.flush() }
    for _ in 0..<200 { await Task.yield() }
    #expect(await fixture.store.content() == "T1 R1")
    fixture.store.erasing.open()
    try await flush.value
    #expect(fixture.store.calls.last == "erased")
    try await end.value
    #expect(await other.content() == nil)
  }
  /// The stores are set without a pause, so that some are set between two steps of a sign-out.
  @Test func `a sign-out is completed even if the app sets another store at the same time`()
    async throws
  {
    let (oauth, module) = (fixture.oauth, fixture.module)
    try await module.signOut()
    let isOver = Locked(false)
    let hasStopped = Gate(isOpen: false)
    Thread.detachNewThread {
      while !isOver.withLock(\.self) { oauth.environment.tokenStore = MemoryTokenStore() }
      hasStopped.open()
    }
    var erased: Result<Void, SQOAuthError>? = .success(())
    for _ in 0..<2000 where erased != nil {
      erased = await module.forgetSession().wait(until: .now + .seconds(30))
    }
    isOver.withLock { $0 = true }
    await hasStopped.opened()
    try #require(erased).get()
  }
}
