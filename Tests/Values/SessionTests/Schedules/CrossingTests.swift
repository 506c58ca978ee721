import Foundation
import SQBasics
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// Sign-ins, renewals and the end of a session at the same time.
@Suite(.timeLimit(.minutes(1))) struct CrossingTests {
  static let refused = ScriptedTransport.json(#"{"error":"invalid_grant"}"#, status: 400)

  @Test func `invalid_grant for a refresh ends the session, but not a running sign-in`()
    async throws
  {
    let fixture = try await SessionFixture(browser: OAuthFixture.idle).restored()
    let signIn = begin { try await fixture.oauth.signIn() }
    let page = try await fixture.fixture.isWaiting()
    fixture.server.next(Self.refused)
    await failure(.invalidGrant) { try await fixture.module.refresh() }
    #expect(await fixture.observer.words(1) == ["ended refused invalid_grant"])
    fixture.oauth.handleRedirect(try page.redirect("code=abc"))
    let token = try await signIn.value
    #expect(fixture.oauth.result.token == token)
    #expect(await fixture.store.content() == ScriptedStore.words(token))
  }

  @Test func `a sign-out by another process is not written to the store again`() async throws {
    let fixture = try await SessionFixture().restored()
    await fixture.store.memory.erase("default")
    await failure(.notAuthorized) { try await fixture.module.refresh() }
    #expect(await fixture.observer.words(1) == ["ended signedOut"])
    _ = try await fixture.module.session.account.load()
    #expect(!fixture.store.calls.contains("erase") && fixture.refreshes.isEmpty)
  }

  @Test func `the late failure of an invalidated renewal does not affect the next renewal`() throws
  {
    var state = SessionState()
    let now = Date(timeIntervalSince1970: 1_750_000_000)
    let token = SQToken(accessToken: "T", refreshToken: "R")
    let record = AccountRecord(id: "a", clientID: "c", token: token)
    state.hold(record, at: now, jitter: 0)
    guard case .start(let renewal, _) = state.step(.new(since: state.renewals), at: now) else {
      Issue.record("no renewal was started")
      return
    }
    let (takeover, void) = state.beginTakeover()
    #expect(void?.work === renewal.work)
    state.hold(record, at: now, jitter: 0)
    state.end(takeover)
    let counts = state.fail(renewal, SQOAuthError(.serverError, "late"), at: now)
    #expect(!counts)
    guard case .start = state.step(.new(since: state.renewals), at: now) else {
      Issue.record("the late failure counts")
      return
    }
  }

  @Test func `a token that the app provides is not renewed by the client credentials grant`()
    async throws
  {
    let fixture = try SessionFixture()
    try await fixture.module.requestAccessTokenAsClient()
    let (now, kept) = (fixture.clock.now, "user's")
    fixture.oauth.launchTokenTimerUpdate(
      with: SQToken(accessToken: kept, expirationDate: now + 60, issueDate: now + 1))
    #expect(fixture.module.currentToken?.accessToken == kept)
    fixture.clock.advance(by: 60)
    await failure(.notAuthorized) { try await fixture.module.token() }
    #expect(fixture.requests == ["client_credentials"])
  }

  @Test func `a request is not sent again with another user's token`() async throws {
    let fixture = try await SessionFixture().restored()
    let url = try #require(URL(string: "https://api.example/upload"))
    let (server, module) = (fixture.server, fixture.module)
    fixture.fixture.http.answer { request in
      guard request.url == url else { return try await server.answer(request) }
      try await module.signOut()
      try await module.requestAccessToken(grantType: "urn:example:grant")
      return TokenServer.challenge(#"Bearer error="invalid_token""#)
    }
    await failure(.invalidToken) { try await module.send(WebRequest(url: url)) }
    #expect(fixture.requests == ["GET /upload T1", "urn:example:grant"])
    #expect(fixture.memory == "T2 R2")
  }

  /// Some servers send tokens that have already expired.
  @Test func `if tokens expire at once, the timer waits a second between refreshes`() async throws {
    let fixture = try SessionFixture(lifetime: 0)
    try await fixture.module.requestAccessToken(grantType: "urn:example:grant")
    fixture.module.refreshesAutomatically = true
    // The first token has expired when it arrives, and is renewed at once. The next is renewed a
    // second later.
    for count in 1...3 {
      try await eventually("the timer sleeps") { fixture.clock.sleepers == 1 }
      #expect(fixture.refreshes.count == count)
      fixture.clock.advance(by: 0.5)
      #expect(fixture.clock.sleepers == 1)
      fixture.clock.advance(by: 0.5)
      try await eventually("it refreshes") { fixture.refreshes.count == count + 1 }
    }
  }

  @Test func `a custom clock can call the module when its sleep is cancelled`() async throws {
    let fixture = try await SessionFixture().restored()
    let clock = AskingClock(fixture.clock)
    fixture.oauth.environment.clock = clock
    clock.onCancel { [module = fixture.module] in _ = module.refreshesAutomatically }
    fixture.module.refreshesAutomatically = true
    await fixture.clock.hasSleeper()
    fixture.module.refreshesAutomatically = false
    try await eventually { clock.hasAsked }
  }
}

/// A clock that calls a closure when a sleep is cancelled.
private final class AskingClock: WallClock {
  private let clock: ManualClock
  private let ask = Locked<@Sendable () -> Void>({})
  private let asked = Locked(false)

  init(_ clock: ManualClock) { self.clock = clock }

  var hasAsked: Bool { asked.withLock(\.self) }
  func onCancel(_ ask: @escaping @Sendable () -> Void) { self.ask.withLock { $0 = ask } }
  var now: Date { clock.now }

  func sleep(until date: Date) async throws {
    try await withTaskCancellationHandler {
      try await clock.sleep(until: date)
    } onCancel: {
      ask.withLock(\.self)()
      asked.withLock { $0 = true }
    }
  }
}
