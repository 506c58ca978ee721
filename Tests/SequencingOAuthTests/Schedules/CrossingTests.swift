import Basics
import Foundation
import TestSupport
import Testing

@testable import SequencingOAuth

/// What crosses what: ends, sign-ins and renewals that are under way at once.
@Suite(.timeLimit(.minutes(1))) struct CrossingTests {
  static let refused = ScriptedHTTPClient.json(#"{"error":"invalid_grant"}"#, status: 400)

  @Test func `a session that ends by itself does not end the sign-in under way`() async throws {
    let bench = try await SessionFixture(browser: OAuthFixture.idle).restored()
    let signIn = begin { try await bench.oauth.signIn() }
    let page = try await bench.bench.isWaiting()
    bench.server.next(Self.refused)
    await failure(.invalidGrant) { try await bench.module.refresh() }
    #expect(await bench.observer.words(1) == ["ended refused invalid_grant"])
    bench.oauth.handleRedirect(try page.redirect("code=abc"))
    let token = try await signIn.value
    #expect(bench.oauth.result.token == token)
    #expect(await bench.store.content() == ScriptedStore.words(token))
  }

  @Test func `a sign-out elsewhere is not written to the store once more`() async throws {
    let bench = try await SessionFixture().restored()
    await bench.store.memory.erase("default")
    await failure(.notAuthorized) { try await bench.module.refresh() }
    #expect(await bench.observer.words(1) == ["ended signedOut"])
    _ = try await bench.module.session.account.load()
    #expect(!bench.store.calls.contains("erase") && bench.refreshes.isEmpty)
  }

  @Test func `the failure of a void renewal is none of what came in its place`() throws {
    var state = SessionState()
    let now = Date(timeIntervalSince1970: 1_750_000_000)
    let token = SQToken(accessToken: "T", refreshToken: "R")
    let record = AccountRecord(id: "a", clientID: "c", token: token)
    state.hold(record, at: now, jitter: 0)
    guard case .start(let renewal, _) = state.step(.new(since: state.renewals), at: now) else {
      Issue.record("no renewal")
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

  @Test func `a token that the app kept is not renewed by the client's own credentials`()
    async throws
  {
    let bench = try SessionFixture()
    try await bench.module.requestAccessTokenAsClient()
    let (now, kept) = (bench.clock.now, "user's")
    bench.oauth.launchTokenTimerUpdate(
      with: SQToken(accessToken: kept, expirationDate: now + 60, issueDate: now + 1))
    #expect(bench.module.currentToken?.accessToken == kept)
    bench.clock.advance(by: 60)
    await failure(.notAuthorized) { try await bench.module.token() }
    #expect(bench.requests == ["client_credentials"])
  }

  @Test func `a request is not repeated with the token of another user`() async throws {
    let bench = try await SessionFixture().restored()
    let url = try #require(URL(string: "https://api.example/upload"))
    let (server, module) = (bench.server, bench.module)
    bench.bench.http.answer { request in
      guard request.url == url else { return try await server.answer(request) }
      try await module.clearAccessToken()
      try await module.requestAccessToken(grantType: "urn:example:grant")
      return TokenServer.challenge(#"Bearer error="invalid_token""#)
    }
    await failure(.invalidToken) { try await module.send(HTTPRequest(url: url)) }
    #expect(bench.requests == ["GET /upload T1", "urn:example:grant"])
    #expect(bench.memory == "T2 R2")
  }

  /// Some servers give tokens that have expired when they arrive.
  @Test func `the timer does not ask without end for tokens of no lifetime`() async throws {
    let bench = try SessionFixture(lifetime: 0)
    try await bench.module.requestAccessToken(grantType: "urn:example:grant")
    bench.module.refreshesAutomatically = true
    // The first one is over when it comes, and renewed at once; the next one a second later.
    for count in 1...3 {
      try await eventually("the timer sleeps") { bench.clock.sleepers == 1 }
      #expect(bench.refreshes.count == count)
      bench.clock.advance(by: 0.5)
      #expect(bench.clock.sleepers == 1)
      bench.clock.advance(by: 0.5)
      try await eventually("it refreshes") { bench.refreshes.count == count + 1 }
    }
  }

  @Test func `a clock may ask the module when its sleep is cancelled`() async throws {
    let bench = try await SessionFixture().restored()
    let clock = AskingClock(bench.clock)
    bench.oauth.environment.clock = clock
    clock.onCancel { [module = bench.module] in _ = module.refreshesAutomatically }
    bench.module.refreshesAutomatically = true
    await bench.clock.hasSleeper()
    bench.module.refreshesAutomatically = false
    try await eventually { clock.hasAsked }
  }
}

/// A clock with an interest in cancellations.
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
