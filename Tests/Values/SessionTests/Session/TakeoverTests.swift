import Foundation
import SQBasics
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// A refresh during which the user signs out, or another user signs in.
@Suite("A refresh and another sign-in or sign-out", .timeLimit(.minutes(1))) struct TakeoverTests {
  /// How far the refresh is when the user signs out, or when another user signs in.
  enum Point: CaseIterable { case request, save }

  private final class Count: Sendable {
    private let number = Locked(0)
    var value: Int { number.withLock(\.self) }
    func add() { number.withLock { $0 += 1 } }
  }

  /// The number of ended renewals.
  private let ended = Count()

  /// Returns a session that gets the answers to its cancelled requests.
  func answered() async throws -> SessionFixture {
    let fixture = try SessionFixture()
    fixture.server.change { $0.answersCancelled = true }
    fixture.oauth.environment.observer = ClientObserver { [ended] event in
      if case .refresh = event.subject, case .end = event.phase { ended.add() }
    }
    return try await fixture.updating()
  }

  /// Waits until the session has handled the answer to each refresh.
  func refreshesEnd(in fixture: SessionFixture) async throws {
    try await eventually { ended.value == fixture.refreshes.count }
  }

  /// Returns a session whose refresh has reached this point.
  func overtaken(at point: Point) async throws -> (SessionFixture, Task<SQToken, any Error>) {
    let fixture = try await answered()
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
  func `a refresh does not undo a sign-out`(point: Point) async throws {
    let (fixture, caller) = try await overtaken(at: point)
    fixture.oauth.userDidSignOut()
    #expect(fixture.memory == nil && fixture.oauth.result.token == nil)
    goOn(fixture)
    await failure(.notAuthorized) { try await caller.value }
    try await refreshesEnd(in: fixture)
    try await fixture.module.flush()
    #expect(fixture.memory == nil)
    #expect(await fixture.store.content() == nil)
    #expect(await fixture.observer.words(1) == ["ended signedOut"])
    try await eventually { fixture.clock.sleepers == 0 }
    fixture.clock.advance(by: 86_400)
    await failure(.notAuthorized) { try await fixture.module.token() }
    await fixture.oauth.delegatesWereCalled()
    #expect(fixture.refreshes == ["R1"] && fixture.observer.words.count == 1)
  }

  @Test(arguments: Point.allCases)
  func `a refresh for the previous user does not replace the token of a new sign-in`(point: Point)
    async throws
  {
    let fixture = try await answered()
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
    // The old user's caller asked for a fresh token, and gets a fresh one of the new user.
    let last = try await caller.value
    try await refreshesEnd(in: fixture)
    #expect(
      last.accessToken != token.accessToken && last.accessToken == "T\(fixture.server.issued)")
    #expect(fixture.module.currentToken == last)
    #expect(await fixture.store.content() == ScriptedStore.words(last))
    #expect(fixture.store.saves.count == (point == .request ? 2 : 3))
    try await oauth.signOut()
    #expect(
      await fixture.observer.words(2) == ["refreshed \(last.accessToken)", "ended signedOut"])
  }

  /// The old user's answer arrives after the new user has signed in.
  @Test(arguments: [
    #"{"access_token":"OLD","token_type":"Bearer","refresh_token":"OLD-R"}"#,
    #"{"error":"invalid_grant"}"#, "<html>",
  ])
  func `a late refresh response for the previous user changes nothing`(body: String) async throws {
    let fixture = try await answered()
    let (module, oauth) = (fixture.module, fixture.oauth)
    let late = Gate()
    late.close()
    fixture.server.next { _ in
      await late.pass()
      return WebResponse(
        status: body.contains("error") ? 400 : 200,
        headers: ["Content-Type": "application/json"], body: Data(body.utf8))
    }
    let callers = (0..<5).map { _ in begin { try await module.refresh() } }
    try await late.isHolding()
    #expect(try await oauth.signIn().accessToken == "T2")
    late.open()
    // The callers asked for a fresh token. The callers that still wait get a token of the new user.
    for caller in callers { #expect(try await caller.value.accessToken != "OLD") }
    try await refreshesEnd(in: fixture)
    let newest = fixture.server.issued
    #expect(fixture.memory == "T\(newest) R\(newest)")
    #expect(await fixture.store.content() == "T\(newest) R\(newest)")
    #expect(!fixture.store.saves.contains { $0.contains("OLD") })
    try await oauth.signOut()
    try await eventually { fixture.observer.words.last == "ended signedOut" }
    #expect(fixture.observer.words.dropLast().allSatisfy { $0.hasPrefix("refreshed T") })
    #expect(fixture.refreshes.filter { $0 == "R1" }.count == 1)
  }

  @Test
  func `after a sign-in, a caller that waits for a refresh gets the new user's token at once`()
    async throws
  {
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

  /// A grant without a browser belongs to its caller, so the sign-out does not cancel it.
  @Test func `a sign-out discards the token of a running client credentials grant`() async throws {
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

  @Test func `a restore during the save of a sign-in waits for it, and replaces no session`()
    async throws
  {
    let fixture = try SessionFixture()
    let (module, owner) = (fixture.module, fixture.module.session.owner)
    fixture.store.saving.close()
    let signIn = begin { try await module.signIn() }
    try await fixture.store.saving.isHolding()
    // The store has the record, and has not returned yet.
    await fixture.store.memory.save(fixture.record(fixture.server.issue(at: fixture.clock.now)))
    let restore = begin { try await module.restore() }
    for _ in 0..<200 { await Task.yield() }
    #expect(fixture.memory == nil)
    fixture.store.saving.open()
    #expect(try await restore.value)
    #expect(try await signIn.value.accessToken == "T1" && fixture.memory == "T1 R1")
    #expect(owner.permits(module.session.owner), "requests that waited for the sign-in go on")
  }

  /// The user needs the running sign-in, because the refresh was rejected.
  @Test func `a rejected refresh does not end a running sign-in`() async throws {
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

  @Test func `the client credentials grant does not renew a token that the app passed in`()
    async throws
  {
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

  /// A request with the previous user's token is not sent again with the current user's token.
  @Test func `a token has no owner after another sign-in or a sign-out`() async throws {
    let fixture = try await SessionFixture().restored()
    let session = fixture.module.session
    let first = try #require(fixture.module.currentToken)
    let owner = try #require(session.owner(of: first))
    let second = try await fixture.oauth.signIn()
    #expect(session.owner(of: first) == nil)
    #expect(session.owner(of: second) == session.owner && !owner.permits(session.owner))
    try await fixture.oauth.signOut()
    #expect(!session.owner.isSignedIn && session.owner(of: second) == nil)
  }

  @Test func `after a cancelled sign-in and a second sign-in, the second one's token is stored`()
    async throws
  {
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
  /// The number of the running change of the token; `nil` if there is none.
  fileprivate var change: Int? { decide(\.changeUnderWay)?.number }
}
