import Foundation
import SequencingOAuth
import TestSupport
import Testing

/// What ends a session, and what another process's refresh looks like.
@Suite("The end of a session", .timeLimit(.minutes(1))) struct SessionEndTests {
  static let invalidGrant = ScriptedHTTPClient.json(#"{"error":"invalid_grant"}"#, status: 400)

  @Test func `invalid_grant ends it, and every observer is told once`() async throws {
    let bench = try await SessionFixture().updating()
    let module = bench.module
    let streams = (0..<3).map { _ in RefreshRecorder.listening(to: module.events) }
    bench.server.gate.close()
    bench.server.always(Self.invalidGrant)
    let callers = (0..<50).map { _ in begin { try await module.refresh() } }
    try await bench.server.gate.isHolding()
    bench.server.gate.open()
    for caller in callers {
      let error = await failure(.invalidGrant) { try await caller.value }
      #expect(error?.requiresSignIn == true)
    }
    #expect(bench.refreshes == ["R1"])
    #expect(bench.memory == nil && bench.oauth.result.token == nil && !module.hasAccessToken)
    try await eventually { await bench.store.content() == nil }
    await failure(.notAuthorized) { try await module.token() }
    await failure(.notAuthorized) { try await module.refresh() }
    #expect(bench.refreshes == ["R1"])
    for observer in streams + [bench.observer] {
      #expect(await observer.words(1) == ["ended refused invalid_grant"])
    }
    try await eventually { bench.clock.sleepers == 0 }
    bench.clock.advance(by: 86_400)
    #expect(bench.refreshes == ["R1"])
    for observer in streams + [bench.observer] { #expect(observer.words.count == 1) }
  }

  @Test func `requestAccess signs in again after it`() async throws {
    let bench = try await SessionFixture().restored()
    bench.clock.advance(by: 3600)
    bench.server.next(Self.invalidGrant)
    let token = try await bench.module.requestAccess()
    #expect(token.accessToken == "T2")
    #expect(bench.requests == ["refresh R1", "authorization_code"])
    #expect(bench.bench.opened.count == 1)
    #expect(await bench.store.content() == "T2 R2")
  }

  @Test func `a token that another process stored is adopted without a request`() async throws {
    let bench = try await SessionFixture().restored()
    bench.clock.advance(by: 3600)
    let theirs = bench.server.issue(at: bench.clock.now)
    await bench.store.memory.save(bench.record(theirs))
    #expect(try await bench.module.token() == theirs)
    #expect(bench.requests.isEmpty && bench.memory == "T2 R2")
    #expect(await bench.observer.words(1) == ["refreshed T2"])
    _ = try await bench.module.token()
    #expect(bench.observer.words.count == 1 && bench.store.saves.isEmpty)
  }

  @Test func `one that has expired too is the one that is refreshed`() async throws {
    let bench = try await SessionFixture().restored()
    await bench.store.memory.save(bench.record(bench.server.issue(at: bench.clock.now)))
    bench.clock.advance(by: 3600)
    #expect(try await bench.module.token().accessToken == "T3")
    #expect(bench.refreshes == ["R2"])
    #expect(await bench.observer.words(1) == ["refreshed T3"])
  }

  @Test func `where another process came first, its token is adopted`() async throws {
    let bench = try await SessionFixture().restored()
    let module = bench.module
    bench.clock.advance(by: 3600)
    bench.server.gate.close()
    let callers = (0..<10).map { _ in begin { try await module.token() } }
    try await bench.server.gate.isHolding()
    // It spent R1, so the server refuses R1 now.
    let theirs = bench.server.issue(at: bench.clock.now)
    await bench.store.memory.save(bench.record(theirs))
    bench.server.gate.open()
    for caller in callers { #expect(try await caller.value == theirs) }
    #expect(bench.refreshes == ["R1"])
    #expect(await bench.observer.words(1) == ["refreshed T2"])
    #expect(await bench.store.content() == "T2 R2")
  }

  @Test func `where it came first with a token that has expired, that is refreshed`() async throws {
    let bench = try await SessionFixture().restored()
    let module = bench.module
    bench.clock.advance(by: 3600)
    bench.server.gate.close()
    let caller = begin { try await module.token() }
    try await bench.server.gate.isHolding()
    await bench.store.memory.save(bench.record(bench.server.issue(at: bench.clock.now - 3600)))
    bench.server.gate.open()
    #expect(try await caller.value.accessToken == "T3")
    #expect(bench.refreshes == ["R1", "R2"])
    #expect(await bench.observer.words(1) == ["refreshed T3"])
  }

  @Test func `where the other one's token is refused as well, it ends`() async throws {
    let bench = try await SessionFixture().restored()
    let module = bench.module
    bench.clock.advance(by: 3600)
    bench.server.gate.close()
    bench.server.always(Self.invalidGrant)
    let caller = begin { try await module.token() }
    try await bench.server.gate.isHolding()
    await bench.store.memory.save(bench.record(bench.server.issue(at: bench.clock.now - 3600)))
    bench.server.gate.open()
    await failure(.invalidGrant) { try await caller.value }
    #expect(bench.refreshes == ["R1", "R2"])
    #expect(await bench.observer.words(1) == ["ended refused invalid_grant"])
    try await eventually { await bench.store.content() == nil }
  }

  /// The record that cannot be read may be a newer one, which must not be erased.
  @Test func `a store that cannot be read when it matters loses nothing`() async throws {
    let bench = try await SessionFixture().restored()
    let module = bench.module
    bench.clock.advance(by: 3600)
    bench.server.gate.close()
    let caller = begin { try await module.token() }
    try await bench.server.gate.isHolding()
    await bench.store.memory.save(bench.record(bench.server.issue(at: bench.clock.now)))
    bench.store.fails(toLoad: true)
    bench.server.gate.open()
    await failure { try await caller.value }
    #expect(await bench.store.content() == "T2 R2")
    #expect(!bench.store.calls.contains("erase"))
    bench.store.fails()
    bench.clock.advance(by: 1)
    #expect(try await module.token().accessToken == "T2")
  }

  @Test func `another process's sign-out is one here`() async throws {
    let bench = try await SessionFixture().restored()
    bench.clock.advance(by: 3600)
    await bench.store.memory.erase("default")
    await failure(.notAuthorized) { try await bench.module.token() }
    #expect(bench.requests.isEmpty && bench.memory == nil)
    #expect(await bench.observer.words(1) == ["ended signedOut"])
    await failure(.notAuthorized) { try await bench.module.token() }
    #expect(bench.observer.words.count == 1)
  }

  /// It may be a new user's, who signed in meanwhile.
  @Test func `another process's sign-out erases nothing more`() async throws {
    let bench = try await SessionFixture().restored()
    bench.clock.advance(by: 3600)
    await bench.store.memory.erase("default")
    await failure(.notAuthorized) { try await bench.module.token() }
    #expect(!bench.store.calls.contains("erase"))
  }

  @Test func `a record of another client in the store is not adopted`() async throws {
    let bench = try await SessionFixture().restored()
    bench.clock.advance(by: 3600)
    let theirs = bench.server.issue(at: bench.clock.now)
    await bench.store.memory.save(bench.record(theirs, clientID: "other"))
    await failure(.invalidConfiguration) { try await bench.module.token() }
    #expect(bench.requests.isEmpty && bench.memory == "T1 R1")
    #expect(await bench.store.content() == "T2 R2")
  }

  @Test func `under another client nothing is refreshed`() async throws {
    let bench = try await SessionFixture().restored()
    bench.oauth.registerApplicationParameters(
      clientID: "other", redirectURI: "com.example.app:/cb",
      provider: .endpoints(
        authorization: "https://evil.example/a", token: "https://evil.example/token"))
    await failure(.invalidConfiguration) { try await bench.module.refresh() }
    #expect(bench.requests.isEmpty && bench.memory == "T1 R1")
    try bench.bench.register()
    bench.clock.advance(by: 1)
    #expect(try await bench.module.refresh().accessToken == "T2")
  }

  @Test func `a record of another client or issuer is not restored`() async throws {
    let bench = try SessionFixture()
    let token = bench.server.issue(at: bench.clock.now)
    await bench.store.memory.save(bench.record(token, clientID: "other"))
    await failure(.invalidConfiguration) { try await bench.module.token() }
    await failure(.invalidConfiguration) { try await bench.module.restore() }
    #expect(bench.memory == nil)
    try bench.bench.register(
      provider: .endpoints(
        authorization: "https://id.example/a", token: "https://id.example/token",
        issuer: "https://id.example"))
    await bench.store.memory.save(
      AccountRecord(
        id: "default", clientID: "client", issuer: "https://other.example", token: token))
    await failure(.invalidConfiguration) { try await bench.module.token() }
    #expect(bench.memory == nil)
  }
}
