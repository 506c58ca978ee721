import Foundation
import SQBasics
import SequencingOAuth
import Testing

@testable import TestSupport

/// How a session ends, and how it uses another process's refresh.
@Suite("The end of a session", .timeLimit(.minutes(1))) struct SessionEndTests {
  static let invalidGrant = ScriptedTransport.json(#"{"error":"invalid_grant"}"#, status: 400)

  @Test func `invalid_grant ends the session, and every observer is notified once`() async throws {
    let fixture = try await SessionFixture().updating()
    let module = fixture.module
    let streams = (0..<3).map { _ in RefreshRecorder.listening(to: module.events()) }
    fixture.server.gate.close()
    fixture.server.always(Self.invalidGrant)
    let callers = (0..<50).map { _ in begin { try await module.refresh() } }
    try await fixture.server.gate.isHolding()
    fixture.server.gate.open()
    for caller in callers {
      let error = await failure(.invalidGrant) { try await caller.value }
      #expect(error?.requiresSignIn == true)
    }
    #expect(fixture.refreshes == ["R1"])
    #expect(fixture.memory == nil && fixture.oauth.result.token == nil && !module.hasAccessToken)
    try await eventually { await fixture.store.content() == nil }
    await failure(.notAuthorized) { try await module.token() }
    await failure(.notAuthorized) { try await module.refresh() }
    #expect(fixture.refreshes == ["R1"])
    for observer in streams + [fixture.observer] {
      #expect(await observer.words(1) == ["ended refused invalid_grant"])
    }
    try await eventually { fixture.clock.sleepers == 0 }
    fixture.clock.advance(by: 86_400)
    #expect(fixture.refreshes == ["R1"])
    for observer in streams + [fixture.observer] { #expect(observer.words.count == 1) }
  }

  @Test func `requestAccess signs in again after the end of a session`() async throws {
    let fixture = try await SessionFixture().restored()
    fixture.clock.advance(by: 3600)
    fixture.server.next(Self.invalidGrant)
    let token = try await fixture.module.requestAccess()
    #expect(token.accessToken == "T2")
    #expect(fixture.requests == ["refresh R1", "authorization_code"])
    #expect(fixture.fixture.opened.count == 1)
    #expect(await fixture.store.content() == "T2 R2")
  }

  @Test func `a token that another process stored is adopted without a request`() async throws {
    let fixture = try await SessionFixture().restored()
    fixture.clock.advance(by: 3600)
    let theirs = fixture.server.issue(at: fixture.clock.now)
    await fixture.store.memory.save(fixture.record(theirs))
    #expect(try await fixture.module.token() == theirs)
    #expect(fixture.requests.isEmpty && fixture.memory == "T2 R2")
    #expect(await fixture.observer.words(1) == ["taken over T2"])
    _ = try await fixture.module.token()
    #expect(fixture.observer.words.count == 1 && fixture.store.saves.isEmpty)
  }

  @Test func `an expired token of another process is refreshed`() async throws {
    let fixture = try await SessionFixture().restored()
    await fixture.store.memory.save(fixture.record(fixture.server.issue(at: fixture.clock.now)))
    fixture.clock.advance(by: 3600)
    #expect(try await fixture.module.token().accessToken == "T3")
    #expect(fixture.refreshes == ["R2"])
    #expect(await fixture.observer.words(1) == ["refreshed T3"])
  }

  @Test func `the token of another process that refreshed first is adopted`() async throws {
    let fixture = try await SessionFixture().restored()
    let module = fixture.module
    fixture.clock.advance(by: 3600)
    fixture.server.gate.close()
    let callers = (0..<10).map { _ in begin { try await module.token() } }
    try await fixture.server.gate.isHolding()
    // The other process used R1, so the server rejects R1 now.
    let theirs = fixture.server.issue(at: fixture.clock.now)
    await fixture.store.memory.save(fixture.record(theirs))
    fixture.server.gate.open()
    for caller in callers { #expect(try await caller.value == theirs) }
    #expect(fixture.refreshes == ["R1"])
    #expect(await fixture.observer.words(1) == ["taken over T2"])
    #expect(await fixture.store.content() == "T2 R2")
  }

  @Test func `the token of another process that refreshed first is refreshed if it has expired`()
    async throws
  {
    let fixture = try await SessionFixture().restored()
    let module = fixture.module
    fixture.clock.advance(by: 3600)
    fixture.server.gate.close()
    let caller = begin { try await module.token() }
    try await fixture.server.gate.isHolding()
    await fixture.store.memory.save(
      fixture.record(fixture.server.issue(at: fixture.clock.now - 3600)))
    fixture.server.gate.open()
    #expect(try await caller.value.accessToken == "T3")
    #expect(fixture.refreshes == ["R1", "R2"])
    #expect(await fixture.observer.words(1) == ["refreshed T3"])
  }

  @Test func `the session ends if another process's refresh token is also rejected`() async throws {
    let fixture = try await SessionFixture().restored()
    let module = fixture.module
    fixture.clock.advance(by: 3600)
    fixture.server.gate.close()
    fixture.server.always(Self.invalidGrant)
    let caller = begin { try await module.token() }
    try await fixture.server.gate.isHolding()
    await fixture.store.memory.save(
      fixture.record(fixture.server.issue(at: fixture.clock.now - 3600)))
    fixture.server.gate.open()
    await failure(.invalidGrant) { try await caller.value }
    #expect(fixture.refreshes == ["R1", "R2"])
    #expect(await fixture.observer.words(1) == ["ended refused invalid_grant"])
    try await eventually { await fixture.store.content() == nil }
  }

  /// The record that cannot be read may be newer, so it must not be erased.
  @Test func `a store that cannot be read after a rejection is not erased`() async throws {
    let fixture = try await SessionFixture().restored()
    let module = fixture.module
    fixture.clock.advance(by: 3600)
    fixture.server.gate.close()
    let caller = begin { try await module.token() }
    try await fixture.server.gate.isHolding()
    await fixture.store.memory.save(fixture.record(fixture.server.issue(at: fixture.clock.now)))
    fixture.store.fails(toLoad: true)
    fixture.server.gate.open()
    await failure { try await caller.value }
    #expect(await fixture.store.content() == "T2 R2")
    #expect(!fixture.store.calls.contains("erase"))
    fixture.store.fails()
    fixture.clock.advance(by: 1)
    #expect(try await module.token().accessToken == "T2")
  }

  @Test func `a sign-out by another process ends this session`() async throws {
    let fixture = try await SessionFixture().restored()
    fixture.clock.advance(by: 3600)
    await fixture.store.memory.erase("default")
    await failure(.notAuthorized) { try await fixture.module.token() }
    #expect(fixture.requests.isEmpty && fixture.memory == nil)
    #expect(await fixture.observer.words(1) == ["ended signedOut"])
    await failure(.notAuthorized) { try await fixture.module.token() }
    #expect(fixture.observer.words.count == 1)
  }

  /// The store may have the record of a new user who signed in meanwhile.
  @Test func `after a sign-out by another process, this process does not erase the store`()
    async throws
  {
    let fixture = try await SessionFixture().restored()
    fixture.clock.advance(by: 3600)
    await fixture.store.memory.erase("default")
    await failure(.notAuthorized) { try await fixture.module.token() }
    try await fixture.module.flush()
    #expect(!fixture.store.calls.contains("erase"))
  }

  @Test func `another client's record in the store is not adopted`() async throws {
    let fixture = try await SessionFixture().restored()
    fixture.clock.advance(by: 3600)
    let theirs = fixture.server.issue(at: fixture.clock.now)
    await fixture.store.memory.save(fixture.record(theirs, clientID: "other"))
    await failure(.invalidConfiguration) { try await fixture.module.token() }
    #expect(fixture.requests.isEmpty && fixture.memory == "T1 R1")
    #expect(await fixture.store.content() == "T2 R2")
  }

  @Test func `nothing is refreshed after another client is registered`() async throws {
    let fixture = try await SessionFixture().restored()
    fixture.oauth.registerApplicationParameters(
      clientID: "other", redirectURI: "com.example.app:/cb",
      provider: .endpoints(
        authorization: "https://evil.example/a", token: "https://evil.example/token"))
    await failure(.invalidConfiguration) { try await fixture.module.refresh() }
    #expect(fixture.requests.isEmpty && fixture.memory == "T1 R1")
    try fixture.fixture.register()
    fixture.clock.advance(by: 1)
    #expect(try await fixture.module.refresh().accessToken == "T2")
  }

  @Test func `a record of another client or issuer is not restored`() async throws {
    let fixture = try SessionFixture()
    let token = fixture.server.issue(at: fixture.clock.now)
    await fixture.store.memory.save(fixture.record(token, clientID: "other"))
    await failure(.invalidConfiguration) { try await fixture.module.token() }
    await failure(.invalidConfiguration) { try await fixture.module.restore() }
    #expect(fixture.memory == nil)
    try fixture.fixture.register(
      provider: .endpoints(
        authorization: "https://id.example/a", token: "https://id.example/token",
        issuer: "https://id.example"))
    await fixture.store.memory.save(
      AccountRecord(
        id: "default", clientID: "client", issuer: "https://other.example", token: token))
    await failure(.invalidConfiguration) { try await fixture.module.token() }
    #expect(fixture.memory == nil)
  }
}
