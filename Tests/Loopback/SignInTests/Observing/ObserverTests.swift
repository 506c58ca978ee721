import Foundation
import OAuthSandbox
import SQBasics
import Testing

@testable import LoopbackSupport
@testable import SequencingOAuth
@testable import TestSupport

/// What an observer learns about a client at the sandbox.
@Suite(.timeLimit(.minutes(1))) struct ObserverTests {
  private let recorder = EventRecorder()
  private let observer: ClientObserver

  init() {
    observer = recorder.observer()
  }

  private func fixture(
    _ options: SandboxOptions = SandboxOptions(), scope: String = "openid demo",
    change: (inout ClientConfiguration) -> Void = { _ in }
  ) async throws -> SandboxFixture {
    let fixture = try await SandboxFixture(options, sharesClock: true)
    // The timer could refresh before the test does.
    fixture.oauth.refreshesAutomatically = false
    fixture.oauth.environment.observer = observer
    try fixture.register(scope: scope, change: change)
    return fixture
  }

  @Test func `a sign-in is one operation with its requests, its page and its redirect`()
    async throws
  {
    let fixture = try await fixture()
    try await fixture.oauth.signIn()
    await observer.flush()
    // The keys are fetched by another task, before, during or after the token request.
    #expect(recorder.requests.first == "serverMetadata 200")
    #expect(
      recorder.requests.dropFirst().sorted()
        == ["keys 200", "token(\"authorization_code\") 200"])
    let begin = try #require(recorder.events.first)
    #expect(begin.subject == .signIn(.browser(isSilent: false)) && begin.phase == .begin)
    let end = try #require(recorder.events.last { $0.operation == begin.operation })
    guard case .end(_, error: nil) = end.phase else {
      Issue.record("\(end.phase)")
      return
    }
    let accepted = try #require(recorder.events.firstIndex { $0.subject == .redirectAccepted })
    let exchange = try #require(
      recorder.events.firstIndex { $0.description.contains("token by authorization_code") })
    #expect(accepted < exchange)
    for subject in [ClientEvent.Subject.pageOpened, .redirectAccepted] {
      let moments = recorder.moments { $0 == subject }
      #expect(moments.count == 1 && moments.first?.parent == begin.operation)
    }
    let requests = recorder.events.filter {
      if case .request = $0.subject { $0.phase == .begin } else { false }
    }
    #expect(requests.allSatisfy { $0.parent == begin.operation }, "\(requests)")
    #expect(recorder.events.contains { $0.subject == .store(.save) && $0.phase == .begin })
    let server = "http://127.0.0.1:\(fixture.sandbox.issuer.port ?? 0)"
    #expect(
      recorder.events.map(\.description).contains("begin: GET \(server), server metadata"))
    await fixture.sandbox.stop()
  }

  @Test func `an event says why a redirect was refused`() async throws {
    let fixture = try await SandboxFixture()
    fixture.oauth.environment.observer = observer
    fixture.oauth.environment.userAgent = CustomUserAgent { url, signIn in
      signIn.handleRedirect(signIn.redirectURI + "?code=forged&state=guessed")
      signIn.handleRedirect("com.example:/elsewhere")
      let visit = try await SandboxVisitor().visit(url)
      signIn.handleRedirect(visit.redirect)
    }
    try fixture.register()
    try await fixture.oauth.signIn()
    await observer.flush()
    let refused = recorder.moments { if case .redirectRefused = $0 { true } else { false } }
    #expect(
      refused.map(\.subject) == [.redirectRefused(.wrongState), .redirectRefused(.foreignAddress)])
    #expect(refused.allSatisfy { $0.parent != nil })
    await fixture.sandbox.stop()
  }

  @Test func `the event of a late redirect says that the sign-in was answered or is over`() {
    let text = ClientEvent(.redirectRefused(.tooLate)).description
    #expect(text.hasSuffix(": the sign-in has had another response, or is over"))
  }

  @Test func `the events of an API request have the token's lifetime and each attempt`()
    async throws
  {
    let fixture = try await fixture()
    try await fixture.oauth.signIn()
    await observer.flush()
    recorder.forget()
    fixture.sandbox.expireAccessTokens()
    let answer = try await fixture.oauth.send(WebRequest(url: fixture.sandbox.url(.me)))
    #expect(answer.status == 200)
    await observer.flush()
    #expect(
      recorder.requests == [
        "resource 401", "token(\"refresh_token\") 200", "resource 200 attempt 2",
      ])
    let lives = recorder.events.compactMap { event -> Duration? in
      guard case .request(let request) = event.subject, event.phase == .begin else { return nil }
      return request.tokenLife
    }
    #expect(lives == [.seconds(3600), .seconds(3600)])
    let refresh = try #require(recorder.refreshes.first)
    #expect(refresh.reason == .refusal && refresh.callers == 1 && refresh.result == .refreshed)
    await fixture.sandbox.stop()
  }

  @Test(arguments: [1e300, -1e300, .nan] as [Double])
  func `the event of an API request has a lifetime for any expiration date of a token`(
    expiration: Double
  ) throws {
    let token = SQToken(
      accessToken: "T", expirationDate: Date(timeIntervalSinceReferenceDate: expiration))
    let request = ClientEvent.Request(
      "GET", try #require(URL(string: "https://api.example/")),
      ObservedRequest(purpose: .resource, token: token), at: Date())
    #expect((try #require(request.tokenLife) > .zero) == (expiration > 0))
  }

  @Test func `the event of a refresh has the number of its waiting callers`() async throws {
    let fixture = try await fixture()
    try await fixture.oauth.signIn()
    fixture.clock.advance(by: 4000)
    let gate = Gate()
    gate.close()
    fixture.sandbox.misbehave(at: .token, .hold(until: { await gate.pass() }))
    let callers = (0..<10).map { _ in
      Task { [oauth = fixture.oauth] in try await oauth.module.token() }
    }
    let session = fixture.oauth.module.session
    try await eventually { session.decide { $0.changeUnderWay?.callers.count } == 10 }
    gate.open()
    for caller in callers { _ = try await caller.value }
    await observer.flush()
    let refresh = try #require(recorder.refreshes.last)
    #expect(refresh.reason == .caller && refresh.callers == 10)
    await fixture.sandbox.stop()
  }

  @Test(
    arguments: [
      (nil, .refreshed, nil), (.error("invalid_scope"), .none, .invalidScope),
      (.unavailable(retryAfter: 7), .none, .temporarilyUnavailable),
    ] as [(SandboxMisbehaviour?, ClientEvent.Refresh.Result, SQOAuthError.Code?)])
  func `the event of a request for a narrowed token says whether it failed, and why`(
    misbehaviour: SandboxMisbehaviour?, result: ClientEvent.Refresh.Result,
    code: SQOAuthError.Code?
  ) async throws {
    let fixture = try await fixture(scope: "files demo")
    try await fixture.oauth.signIn()
    if let misbehaviour { fixture.sandbox.misbehave(at: .token, misbehaviour) }
    do throws(SQOAuthError) {
      _ = try await fixture.oauth.narrowedToken(scope: "demo")
      #expect(code == nil)
    } catch {
      #expect(error.code == code)
    }
    await observer.flush()
    let refresh = try #require(recorder.refreshes.first)
    #expect(refresh.reason == .narrowing && refresh.callers == 1 && refresh.result == result)
    let end = try #require(
      recorder.events.last { if case .refresh = $0.subject { true } else { false } })
    guard case .end(_, let error) = end.phase else {
      Issue.record("\(end.phase)")
      return
    }
    #expect(error == code)
    let pauses = recorder.moments { if case .backOff = $0 { true } else { false } }
    #expect(pauses.isEmpty == (code != .temporarilyUnavailable))
    await fixture.sandbox.stop()
  }

  @Test func `events report the pause after a failed refresh and the end of a refused session`()
    async throws
  {
    let fixture = try await fixture()
    try await fixture.oauth.signIn()
    fixture.clock.advance(by: 4000)
    fixture.sandbox.misbehave(
      at: .token, .unavailable(retryAfter: 7))
    await failure(.temporarilyUnavailable) { try await fixture.oauth.module.token() }
    await observer.flush()
    let pauses = recorder.moments { if case .backOff = $0 { true } else { false } }
    #expect(pauses.map(\.subject) == [.backOff(.seconds(7), after: .temporarilyUnavailable)])
    #expect(recorder.requests.last == "token(\"refresh_token\") 503")
    fixture.sandbox.revokeEverything()
    fixture.clock.advance(by: 8)
    await failure(.invalidGrant) { try await fixture.oauth.module.token() }
    try await eventually { recorder.moments { $0 == .ended(.refused) }.count == 1 }
    await fixture.sandbox.stop()
  }

  @Test func `a request that is repeated with the server's nonce is reported as attempt 2`()
    async throws
  {
    var options = SandboxOptions()
    options.dpop = SandboxDPoPOptions(.required)
    options.dpop.noncesRequiredBy = [.authorizationServer, .api]
    let fixture = try await fixture(options) { $0.tokenBinding = .dpop() }
    try await fixture.oauth.signIn()
    _ = try await fixture.oauth.send(WebRequest(url: fixture.sandbox.url(.me)))
    await observer.flush()
    let tokens = recorder.requests.filter { $0.hasPrefix("token") }
    #expect(
      tokens == [
        "token(\"authorization_code\") 400", "token(\"authorization_code\") 200 attempt 2",
      ])
    #expect(recorder.requests.suffix(2) == ["resource 401", "resource 200 attempt 2"])
    await fixture.sandbox.stop()
  }

  @Test func `a password grant is reported as a sign-in`() async throws {
    let fixture = try await fixture { $0.allowsPasswordGrant = true }
    let alice = SandboxUser.alice
    try await fixture.oauth.module.requestAccessToken(
      username: alice.name, password: alice.password)
    await observer.flush()
    #expect(recorder.events.first?.subject == .signIn(.grant("password")))
    await fixture.sandbox.stop()
  }
}
