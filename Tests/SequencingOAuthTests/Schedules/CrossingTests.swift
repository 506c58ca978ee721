import Foundation
import LoopbackHTTP
import TestSupport
import Testing

@testable import SequencingOAuth

/// What crosses what: ends, sign-ins and renewals that are under way at once.
@Suite(.timeLimit(.minutes(1))) struct CrossingTests {
  static let refused = ScriptedHTTPClient.json(#"{"error":"invalid_grant"}"#, status: 400)

  @Test func `a session that ends by itself does not end the sign-in under way`() async throws {
    let bench = try Bench(browser: Bench.idle).register()
    bench.oauth.launchTokenTimerUpdate(
      with: SQToken(accessToken: "old", expirationDate: .distantPast, refreshToken: "R"))
    try await bench.oauth.module.session.settled()
    async let signedIn = bench.oauth.authorize()
    let page = try await bench.isWaiting()
    bench.http.answer(Self.refused)
    await failure(.invalidGrant) { try await bench.oauth.module.refresh() }
    bench.http.answer(ScriptedHTTPClient.token("new"))
    bench.oauth.handleRedirect(try page.redirect("code=abc"))
    #expect(try await signedIn.accessToken == "new")
    #expect(bench.oauth.result.token?.accessToken == "new")
  }

  @Test func `a sign-out elsewhere is not written to the store once more`() async throws {
    let bench = try ModuleBench()
    try await bench.signIn()
    try await bench.store.erase("default")
    let before = bench.store.erases
    await failure(.notAuthorized) { try await bench.module.refresh() }
    _ = try await bench.module.session.load()
    #expect(bench.store.erases == before && bench.sent.isEmpty)
  }

  @Test func `the failure of a void renewal is none of what came in its place`() throws {
    var state = SessionState()
    let now = Date(timeIntervalSince1970: 1_750_000_000)
    let token = SQToken(accessToken: "T", refreshToken: "R")
    let record = AccountRecord(id: "a", clientID: "c", token: token)
    state.hold(record, at: now, jitter: 0)
    guard case .start(let renewal) = state.step(.new, at: now) else {
      Issue.record("no renewal")
      return
    }
    let (takeover, void) = state.beginTakeover()
    #expect(void?.work === renewal.work)
    state.hold(record, at: now, jitter: 0)
    state.end(takeover)
    state.end(renewal, SQOAuthError(.serverError, "late"), at: now)
    guard case .start = state.step(.new, at: now) else {
      Issue.record("the late failure counts")
      return
    }
  }

  @Test func `a token that the app kept is not renewed by the client's own credentials`()
    async throws
  {
    let bench = try Bench().register()
    let module = bench.oauth.module
    try await module.requestAccessTokenAsClient()
    bench.oauth.launchTokenTimerUpdate(
      with: SQToken(
        accessToken: "user's", expirationDate: bench.clock.now + 60, issueDate: bench.clock.now + 1)
    )
    #expect(module.currentToken?.accessToken == "user's")
    bench.clock.advance(by: 60)
    await failure(.notAuthorized) { try await module.token() }
    #expect(bench.http.requests.count == 1)
  }

  @Test func `a request is not repeated with the token of another user`() async throws {
    let bench = try ModuleBench()
    try await bench.signIn()
    let url = try #require(URL(string: "https://api.example/upload"))
    let grant = ScriptedHTTPClient.token("B")
    let module = bench.module
    bench.http.answer { request in
      if request.method == "POST" { return try await grant(request) }
      try await module.clearAccessToken()
      try await module.requestAccessToken(grantType: "urn:example:grant")
      return HTTPResponse(
        status: 401, headers: ["WWW-Authenticate": #"Bearer error="invalid_token""#])
    }
    await failure(.invalidToken) { try await module.send(HTTPRequest(url: url)) }
    let shown = bench.http.requests.filter { $0.url == url }.map { $0.headers["Authorization"] }
    #expect(shown == ["Bearer T1"] && module.currentToken?.accessToken == "B")
  }

  /// Some servers give tokens that have expired when they arrive.
  @Test func `the timer does not ask without end for tokens of no lifetime`() async throws {
    let bench = try ModuleBench(lifetime: 0)
    try await bench.signIn()
    bench.module.refreshesAutomatically = true
    try await eventually("the timer waits", within: .seconds(5)) { bench.clock.sleepers == 1 }
    #expect(bench.http.requests.count == 1)
    bench.clock.advance(by: 1)
    try await eventually("it waits again", within: .seconds(5)) {
      bench.http.requests.count == 2 && bench.clock.sleepers == 1
    }
  }

  @Test func `a clock may ask the module when its sleep is cancelled`() async throws {
    let bench = try ModuleBench()
    let clock = AskingClock(bench.clock)
    bench.module.environment.clock = clock
    try await bench.signIn()
    clock.onCancel { [module = bench.module] in _ = module.refreshesAutomatically }
    bench.module.refreshesAutomatically = true
    await bench.clock.hasSleeper()
    bench.module.refreshesAutomatically = false
    try await eventually("it asked") { clock.hasAsked }
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
