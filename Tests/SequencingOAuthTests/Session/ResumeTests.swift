import Foundation
import SequencingOAuth
import TestSupport
import Testing

/// A token that the app kept, at launch.
@Suite("A token that the app kept", .timeLimit(.minutes(1))) struct ResumeTests {
  @Test func `a valid one is current at once, and the timer runs`() async throws {
    let bench = try SessionFixture()
    let saved = bench.server.issue(at: bench.clock.now)
    bench.oauth.launchTokenTimerUpdate(with: saved)
    #expect(bench.oauth.result.token == saved && bench.oauth.validToken == saved)
    try await eventually { await bench.store.content() == "T1 R1" }
    await bench.clock.hasSleeper()
    #expect(bench.requests.isEmpty && bench.observer.words.isEmpty)
    bench.clock.advance(by: 3204)
    #expect(await bench.observer.words(1) == ["refreshed T2"])
  }

  @Test func `an expired one is refreshed, and the timer runs`() async throws {
    let bench = try SessionFixture()
    bench.oauth.launchTokenTimerUpdate(with: bench.server.issue(at: bench.clock.now - 7200))
    #expect(bench.oauth.validToken == nil && bench.oauth.result.token?.accessToken == "T1")
    #expect(await bench.observer.words(1) == ["refreshed T2"])
    await bench.clock.hasSleeper()
    #expect(bench.refreshes == ["R1"] && bench.memory == "T2 R2")
    bench.clock.advance(by: 3204)
    #expect(await bench.observer.words(2).last == "refreshed T3")
  }

  @Test func `an expired one without a refresh token asks nobody`() async throws {
    let bench = try SessionFixture()
    bench.oauth.launchTokenTimerUpdate(
      with: SQToken(accessToken: "T", expirationDate: bench.clock.now - 1))
    await failure(.notAuthorized) { try await bench.oauth.token() }
    #expect(bench.requests.isEmpty && bench.oauth.result.token?.accessToken == "T")
  }

  /// A migrating app has the pod's strings and no more.
  @Test func `one made of two strings is refreshed when it is asked for`() async throws {
    let bench = try SessionFixture()
    bench.server.expect("R0")
    let saved = SQToken(accessToken: "T0", refreshToken: "R0")
    #expect(try await bench.oauth.refresh(with: saved).accessToken == "T1")
    #expect(bench.refreshes == ["R0"])
  }

  /// Nothing says that it is the older one, and the app has it from somewhere.
  @Test func `one without a date takes the place of the one that is held`() async throws {
    let bench = try await SessionFixture().restored()
    bench.oauth.launchTokenTimerUpdate(with: SQToken(accessToken: "T0", refreshToken: "R0"))
    #expect(bench.memory == "T0 R0")
    try await eventually { await bench.store.content() == "T0 R0" }
  }

  @Test func `a refresh with a kept token gets a fresh one and tells once`() async throws {
    let bench = try SessionFixture()
    let saved = bench.server.issue(at: bench.clock.now)
    let token = try await bench.completion { oauth, done in
      oauth.refresh(with: saved, completion: done)
    }.get()
    #expect(token.accessToken == "T2" && token.refreshToken == "R2")
    #expect(await bench.observer.words(1) == ["refreshed T2"])
    #expect(await bench.store.content() == "T2 R2")
    await bench.clock.hasSleeper()
    bench.clock.advance(by: 3204)
    #expect(await bench.observer.words(2).last == "refreshed T3")
    #expect(bench.refreshes == ["R1", "R2"])
  }

  @Test func `a refresh with a kept token tells why it failed, and the token stays`() async throws {
    let bench = try SessionFixture()
    bench.server.next(ScriptedHTTPClient.json("", status: 500))
    let saved = bench.server.issue(at: bench.clock.now)
    let result = await bench.completion { $0.refresh(with: saved, completion: $1) }
    failure(.serverError) { try result.get() }
    #expect(bench.memory == "T1 R1")
    let none = await bench.completion {
      $0.userDidSignOut()
      $0.refresh(with: SQToken(accessToken: "T"), completion: $1)
    }
    failure(.notAuthorized) { try none.get() }
  }

  @Test func `the pod's call gives a token or nil`() async throws {
    let bench = try SessionFixture()
    let saved = bench.server.issue(at: bench.clock.now)
    func refresh(_ token: SQToken?) async -> SQToken? {
      await bench.completion { $0.withRefreshToken(token, updateAccessToken: $1) }
    }
    #expect(await refresh(saved)?.accessToken == "T2")
    bench.server.next(ScriptedHTTPClient.json("", status: 500))
    #expect(await refresh(saved) == nil)
    #expect(await refresh(nil) == nil && bench.memory == "T2 R2")
  }

  @Test func `an empty token is none`() async throws {
    let bench = try SessionFixture()
    let empty = SQToken(accessToken: "", refreshToken: "")
    await failure(.notAuthorized) { try await bench.oauth.refresh(with: empty) }
    await failure(.notAuthorized) { try await bench.module.adopt(empty) }
    bench.oauth.launchTokenTimerUpdate(with: empty)
    bench.oauth.launchTokenTimerUpdate(with: nil)
    let failed = "failed not_authorized"
    #expect(await bench.observer.words(2) == [failed, failed])
    #expect(bench.oauth.currentToken == nil)
  }

  @Test func `without a registered client both say so`() async throws {
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

  @Test func `an outdated copy does not replace the token that is held`() async throws {
    let bench = try await SessionFixture().restored()
    let saved = try #require(bench.module.currentToken)
    bench.clock.advance(by: 3600)
    _ = try await bench.module.token()
    bench.oauth.launchTokenTimerUpdate(with: saved)
    #expect(bench.memory == "T2 R2")
    #expect(try await bench.oauth.refresh(with: saved).accessToken == "T3")
    #expect(bench.refreshes == ["R1", "R2"], "R1 is spent")
    #expect(await bench.store.content() == "T3 R3")
  }

  @Test func `an outdated copy takes nothing from what the app keeps`() async throws {
    let bench = try await SessionFixture().restored()
    let saved = try #require(bench.module.currentToken)
    bench.clock.advance(by: 3600)
    _ = try await bench.module.token()
    bench.module.attributes = ["name": "Alice"]
    bench.oauth.launchTokenTimerUpdate(with: saved)
    _ = try await bench.module.refresh()
    #expect(await bench.store.memory.load("default")?.attributes == ["name": "Alice"])
  }

  @Test func `what the app takes back stays taken back`() async throws {
    let bench = try SessionFixture()
    let token = bench.server.issue(at: bench.clock.now)
    await bench.store.memory.save(
      AccountRecord(
        id: "default", clientID: "client", token: token, attributes: ["name": "Alice"]))
    bench.module.attributes = [:]
    _ = try await bench.module.restore()
    #expect(bench.module.attributes.isEmpty)
    _ = try await bench.module.refresh()
    #expect(await bench.store.memory.load("default")?.attributes == [:])
  }

  @Test func `an outdated copy does not replace the token that is stored`() async throws {
    let bench = try SessionFixture()
    let saved = bench.server.issue(at: bench.clock.now)
    let newer = bench.server.issue(at: bench.clock.now + 1800)
    await bench.store.memory.save(bench.record(newer))
    bench.clock.advance(by: 1800)
    bench.oauth.launchTokenTimerUpdate(with: saved)
    try await eventually { bench.memory == "T2 R2" }
    #expect(bench.store.saves.isEmpty)
    #expect(await bench.store.content() == "T2 R2")
    #expect(await bench.observer.words(1) == ["refreshed T2"], "the app's copy is outdated")
    let other = try SessionFixture()
    await other.store.memory.save(other.record(newer))
    other.server.expect("R2")
    _ = try await other.oauth.refresh(with: saved)
    #expect(other.refreshes == ["R2"])
  }

  /// It may hold a newer one.
  @Test func `a store that cannot be read is not overwritten`() async throws {
    let bench = try SessionFixture()
    let saved = bench.server.issue(at: bench.clock.now)
    let newer = bench.server.issue(at: bench.clock.now + 1800)
    await bench.store.memory.save(bench.record(newer))
    bench.clock.advance(by: 1800)
    bench.store.fails(toLoad: true)
    bench.oauth.launchTokenTimerUpdate(with: saved)
    try await eventually { bench.store.calls.contains("load") && bench.clock.sleepers > 0 }
    #expect(await bench.store.content() == "T2 R2")
    #expect(await bench.observer.words(1) == ["failed store_failed"])
    bench.store.fails()
    bench.clock.advance(by: 1)
    try await eventually { bench.memory == "T2 R2" }
    #expect(await bench.store.content() == "T2 R2")
    #expect(await bench.observer.words(2).last == "refreshed T2")
  }

  @Test func `a store that fails to keep it is told`() async throws {
    let bench = try SessionFixture()
    bench.store.fails(toSave: true)
    bench.oauth.launchTokenTimerUpdate(with: bench.server.issue(at: bench.clock.now))
    await bench.clock.hasSleeper()
    #expect(bench.memory == "T1 R1")
    try await eventually("it is told") { bench.observer.words == ["failed store_failed"] }
    bench.store.fails()
    bench.clock.advance(by: 1)
    try await eventually { await bench.store.content() == "T1 R1" }
  }

  @Test func `another client's account in the store gives way to the app's token`() async throws {
    let bench = try SessionFixture()
    let theirs = bench.server.issue(at: bench.clock.now)
    await bench.store.memory.save(bench.record(theirs, clientID: "other"))
    bench.oauth.launchTokenTimerUpdate(with: bench.server.issue(at: bench.clock.now - 60))
    try await eventually { await bench.store.content() == "T2 R2" }
    #expect(bench.memory == "T2 R2")
  }

  @Test(arguments: [50, 1_000])
  func `many parts of an app that resume the same token are one refresh`(count: Int) async throws {
    let bench = try SessionFixture()
    let oauth = bench.oauth
    let saved = bench.server.issue(at: bench.clock.now - 7200)
    bench.server.gate.close()
    let callers = (0..<count).map { _ in begin { try await oauth.refresh(with: saved) } }
    oauth.launchTokenTimerUpdate(with: saved)
    try await bench.server.gate.isHolding()
    bench.server.gate.open()
    for caller in callers { #expect(try await caller.value.accessToken == "T2") }
    #expect(bench.refreshes == ["R1"])
  }

  /// Those who waited for the store ask again one after the other, and the refresh may be over then.
  @Test func `whoever asks again after a wait does not start another refresh`() async throws {
    for _ in 0..<50 {
      let bench = try SessionFixture()
      let oauth = bench.oauth
      let saved = bench.server.issue(at: bench.clock.now - 7200)
      bench.store.loading.close()
      let callers = (0..<100).map { _ in begin { try await oauth.refresh(with: saved) } }
      try await bench.store.loading.isHolding()
      bench.store.loading.open()
      for caller in callers { _ = try await caller.value }
      #expect(bench.refreshes == ["R1"])
    }
  }

  @Test func `a sign-out while it is being stored leaves nothing`() async throws {
    let bench = try SessionFixture()
    bench.store.saving.close()
    bench.oauth.launchTokenTimerUpdate(with: bench.server.issue(at: bench.clock.now))
    try await bench.store.saving.isHolding()
    bench.oauth.userDidSignOut()
    bench.store.saving.open()
    try await bench.oauth.signOut()
    #expect(bench.memory == nil)
    #expect(await bench.store.content() == nil)
    try await eventually { bench.clock.sleepers == 0 }
  }
}

extension SessionFixture {
  /// What a method with a completion tells.
  func completion<Value: Sendable>(
    _ call: (SQOAuth, @escaping @Sendable (Value) -> Void) -> Void
  ) async -> Value {
    await withCheckedContinuation { continuation in
      call(oauth) { continuation.resume(returning: $0) }
    }
  }
}
