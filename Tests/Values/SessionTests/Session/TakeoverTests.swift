import Foundation
import SQBasics
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// What comes between a refresh and its end: a sign-out, or another user.
@Suite("A refresh that is overtaken", .timeLimit(.minutes(1))) struct TakeoverTests {
  /// Where the refresh stands when it is overtaken.
  enum Point: CaseIterable { case request, save }

  /// A session whose refresh has come so far.
  func overtaken(at point: Point) async throws -> (SessionFixture, Task<SQToken, any Error>) {
    let fixture = try await SessionFixture().updating()
    let module = fixture.module
    let gate = point == .request ? fixture.server.gate : fixture.store.saving
    gate.close()
    let caller = begin { try await module.refresh() }
    try await gate.isHolding()
    return (fixture, caller)
  }

  func goOn(_ fixture: SessionFixture) {
    fixture.server.gate.open()
    fixture.store.saving.open()
  }

  @Test(arguments: Point.allCases)
  func `a sign-out is not undone`(point: Point) async throws {
    let (fixture, caller) = try await overtaken(at: point)
    fixture.oauth.userDidSignOut()
    #expect(fixture.memory == nil && fixture.oauth.result.token == nil)
    goOn(fixture)
    await failure(.notAuthorized) { try await caller.value }
    try await fixture.oauth.signOut()
    #expect(fixture.memory == nil)
    #expect(await fixture.store.content() == nil)
    #expect(await fixture.observer.words(1) == ["ended signedOut"])
    try await eventually { fixture.clock.sleepers == 0 }
    fixture.clock.advance(by: 86_400)
    await failure(.notAuthorized) { try await fixture.module.token() }
    #expect(fixture.refreshes == ["R1"] && fixture.observer.words.count == 1)
  }

  @Test(arguments: Point.allCases)
  func `another user's token wins`(point: Point) async throws {
    let fixture = try await SessionFixture().updating()
    let (module, oauth) = (fixture.module, fixture.oauth)
    fixture.server.signInGate.close()
    let signIn = begin { try await oauth.signIn() }
    try await fixture.server.signInGate.isHolding()
    let gate = point == .request ? fixture.server.gate : fixture.store.saving
    gate.close()
    let caller = begin { try await module.refresh() }
    try await gate.isHolding()
    let renewal = module.session.change
    fixture.server.signInGate.open()
    try await eventually { module.session.change != renewal || point == .request }
    if point == .request { #expect(try await signIn.value.accessToken == "T2") }
    goOn(fixture)
    let token = try await signIn.value
    // The old user's caller asked for a fresh token, and gets one of the new user's.
    let last = try await caller.value
    #expect(
      last.accessToken != token.accessToken && last.accessToken == "T\(fixture.server.issued)")
    #expect(fixture.module.currentToken == last)
    #expect(await fixture.store.content() == ScriptedStore.words(last))
    #expect(fixture.store.saves.count == (point == .request ? 2 : 3))
    #expect(!fixture.observer.words.contains { $0.hasPrefix("ended") || $0.hasPrefix("failed") })
  }

  /// The old user's answer comes when the new user is there.
  @Test(arguments: [
    #"{"access_token":"OLD","token_type":"Bearer","refresh_token":"OLD-R"}"#,
    #"{"error":"invalid_grant"}"#, "<html>",
  ])
  func `the old user's late answer changes nothing`(body: String) async throws {
    let fixture = try await SessionFixture().updating()
    let (module, oauth) = (fixture.module, fixture.oauth)
    let late = Gate()
    late.close()
    fixture.server.next { _ in
      await late.pass()
      return HTTPResponse(
        status: body.contains("error") ? 400 : 200,
        headers: ["Content-Type": "application/json"], body: Data(body.utf8))
    }
    let callers = (0..<5).map { _ in begin { try await module.refresh() } }
    try await late.isHolding()
    #expect(try await oauth.signIn().accessToken == "T2")
    late.open()
    // They asked for a fresh token, and whoever still waits gets one of the new user.
    for caller in callers { #expect(try await caller.value.accessToken != "OLD") }
    let newest = fixture.server.issued
    #expect(fixture.memory == "T\(newest) R\(newest)")
    #expect(await fixture.store.content() == "T\(newest) R\(newest)")
    #expect(!fixture.store.saves.contains { $0.contains("OLD") })
    #expect(!fixture.observer.words.contains { $0.contains("ended") || $0.contains("failed") })
    #expect(fixture.refreshes.filter { $0 == "R1" }.count == 1)
  }

  @Test func `a caller without a need for a fresh token gets the new user's`() async throws {
    let fixture = try await SessionFixture().restored()
    let (module, oauth) = (fixture.module, fixture.oauth)
    fixture.clock.advance(by: 3600)
    let late = Gate()
    late.close()
    fixture.server.next { _ in
      await late.pass()
      throw SQOAuthError(.connectionFailed, "x")
    }
    let caller = begin { try await module.token() }
    try await late.isHolding()
    #expect(try await oauth.signIn().accessToken == "T2")
    #expect(try await caller.value.accessToken == "T2", "without waiting for the old answer")
    late.open()
    #expect(fixture.refreshes == ["R1"])
  }

  /// A grant without a browser is its caller's, and nobody cancels it.
  @Test func `a sign-out refuses the token of a grant that was under way`() async throws {
    let fixture = try SessionFixture()
    let module = fixture.module
    fixture.server.signInGate.close()
    let grant = begin { try await module.requestAccessTokenAsClient() }
    try await fixture.server.signInGate.isHolding()
    try await fixture.oauth.signOut()
    fixture.server.signInGate.open()
    await failure(.cancelled) { try await grant.value }
    #expect(fixture.memory == nil && fixture.server.issued == 1)
    #expect(await fixture.store.content() == nil && fixture.store.saves == [])
  }

  @Test func `a sign-out ends a sign-in whose token is being stored`() async throws {
    let fixture = try await SessionFixture().restored()
    let oauth = fixture.oauth
    fixture.store.saving.close()
    let signIn = begin { try await oauth.signIn() }
    try await fixture.store.saving.isHolding()
    oauth.userDidSignOut()
    fixture.store.saving.open()
    await failure(.cancelled) { try await signIn.value }
    try await oauth.signOut()
    #expect(fixture.memory == nil)
    #expect(await fixture.store.content() == nil)
  }

  /// It is the very thing that helps.
  @Test func `a refresh that is refused does not end the sign-in under way`() async throws {
    let fixture = try await SessionFixture().restored()
    let (module, oauth) = (fixture.module, fixture.oauth)
    fixture.server.signInGate.close()
    let signIn = begin { try await oauth.signIn() }
    try await fixture.server.signInGate.isHolding()
    fixture.server.next(SessionEndTests.invalidGrant)
    await failure(.invalidGrant) { try await module.refresh() }
    #expect(fixture.memory == nil)
    fixture.server.signInGate.open()
    #expect(try await signIn.value.accessToken == "T2")
    #expect(fixture.memory == "T2 R2")
    #expect(await fixture.store.content() == "T2 R2")
  }

  @Test func `a token of the app's own is not renewed by the client's credentials`() async throws {
    let fixture = try SessionFixture()
    fixture.server.change { $0.refreshToken = "" }
    try await fixture.module.requestAccessTokenAsClient()
    fixture.oauth.launchTokenTimerUpdate(
      with: SQToken(
        accessToken: "U", expirationDate: fixture.clock.now + 60, issueDate: fixture.clock.now + 1))
    try await eventually { await fixture.store.content() == "U -" }
    fixture.clock.advance(by: 60)
    await failure(.notAuthorized) { try await fixture.module.token() }
    #expect(fixture.requests == ["client_credentials"])
  }

  /// A request that the last user's token made is not repeated with this user's.
  @Test func `the last user's token is known from this user's`() async throws {
    let fixture = try await SessionFixture().restored()
    let session = fixture.module.session
    let first = try #require(fixture.module.currentToken)
    let mark = try #require(session.mark(of: first))
    let second = try await fixture.oauth.signIn()
    #expect(session.mark(of: first) == nil)
    #expect(session.mark(of: second) == session.mark && session.mark != mark)
    try await fixture.oauth.signOut()
    #expect(session.mark == nil && session.mark(of: second) == nil)
  }

  @Test func `two sign-ins in a row end with the second one's token`() async throws {
    let fixture = try SessionFixture()
    let oauth = fixture.oauth
    fixture.store.saving.close()
    let first = begin { try await oauth.signIn() }
    try await fixture.store.saving.isHolding()
    oauth.cancelSignIn()
    let second = begin { try await oauth.signIn() }
    fixture.store.saving.open()
    _ = try? await first.value
    #expect(try await second.value.accessToken == "T2")
    #expect(fixture.memory == "T2 R2")
    #expect(await fixture.store.content() == "T2 R2")
  }
}

extension TokenSession {
  /// The number of the change that is under way.
  fileprivate var change: Int? { decide(\.changeUnderWay)?.number }
}
