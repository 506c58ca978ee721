import Foundation
import SQBasics
import SequencingOAuth
import Testing

@testable import TestSupport

/// The outcomes of a sign-in.
///
/// The delegate gets each outcome once.
@Suite(.timeLimit(.minutes(1))) struct DelegateOutcomeTests {
  typealias Row = (
    name: String, answer: ScriptedTransport.Answer, browser: OAuthFixture.Browser,
    event: RecordingDelegate.Event, requests: Int
  )

  static func answers(_ query: String) -> OAuthFixture.Browser {
    { fixture, page in fixture.oauth.handleRedirect(try page.redirect(query)) }
  }

  static let ok = ScriptedTransport.token()

  static let table: [Row] = [
    ("success", ok, OAuthFixture.allow, .authorized("T"), 1),
    // Failures that the redirect reports.
    ("server_error", ok, answers("error=server_error"), .failed(.serverError), 0),
    ("unknown error", ok, answers("error=own"), .failed(.init(rawValue: "own")), 0),
    ("no code", ok, answers("x=1"), .failed(.invalidAuthorizationResponse), 0),
    ("two codes", ok, answers("code=a&code=b"), .failed(.invalidAuthorizationResponse), 0),
    (
      "token in the redirect", ok, answers("code=a&access_token=b"),
      .failed(.invalidAuthorizationResponse), 0
    ),
    // Failures that the token endpoint reports.
    (
      "invalid_grant", ScriptedTransport.json(#"{"error":"invalid_grant"}"#, status: 400),
      OAuthFixture.allow, .failed(.invalidGrant), 1
    ),
    (
      "error with status 200", ScriptedTransport.json(#"{"error":"invalid_client"}"#),
      OAuthFixture.allow, .failed(.invalidClient), 1
    ),
    (
      "HTML with status 500",
      { _ in
        WebResponse(
          status: 500, headers: ["Content-Type": "text/html"], body: Data("<html>".utf8))
      }, OAuthFixture.allow, .failed(.serverError), 1
    ),
    (
      "malformed JSON", ScriptedTransport.json("{"), OAuthFixture.allow, .failed(.invalidResponse),
      1
    ),
    ("no token", ScriptedTransport.json("{}"), OAuthFixture.allow, .failed(.invalidResponse), 1),
    (
      "redirect", { _ in WebResponse(status: 307, headers: ["Location": "https://evil.example"]) },
      OAuthFixture.allow, .failed(.redirectRefused), 1
    ),
    (
      "unreachable", { _ in throw URLError(.cannotConnectToHost) }, OAuthFixture.allow,
      .failed(.connectionFailed), 1
    ),
    (
      "too late", { _ in throw SQOAuthError(.requestTimedOut, "x") }, OAuthFixture.allow,
      .failed(.requestTimedOut), 1
    ),
    // Failures before the redirect.
    (
      "no browser", ok, { _, _ in throw URLError(.unknown) }, .failed(.browserUnavailable), 0
    ),
    // Cancellations by the user or the app.
    ("access_denied", ok, answers("error=access_denied"), .cancelled, 0),
    ("consent_required after pages", ok, answers("error=consent_required"), .cancelled, 0),
    (
      "window closed", ok, { _, _ in throw SQOAuthError(.cancelled, "closed") }, .cancelled, 0
    ),
    ("app cancels", ok, { fixture, _ in fixture.oauth.cancelSignIn() }, .cancelled, 0),
    ("signed out meanwhile", ok, { fixture, _ in fixture.oauth.userDidSignOut() }, .cancelled, 0),
  ]

  @Test(arguments: table.indices)
  func `each outcome of a sign-in is reported exactly once`(index: Int) async throws {
    let row = Self.table[index]
    let fixture = try OAuthFixture(answer: row.answer, browser: row.browser).register()
    fixture.oauth.authorizeUser()
    #expect(await fixture.delegate.events(1) == [row.event], "\(row.name)")
    #expect(fixture.http.requests.count == row.requests, "\(row.name)")
    #expect(fixture.opened.count == 1)

    // After its end, a sign-in takes no redirect. The second sign-in shows that the first one was
    // reported only once.
    let page = try #require(fixture.opened.first)
    for query in ["code=late", "error=late"] {
      #expect(!fixture.oauth.handleRedirect(try page.redirect(query)))
    }
    fixture.oauth.cancelSignIn()
    fixture.oauth.authorizeUser()
    #expect(await fixture.delegate.events(2) == [row.event, row.event], "\(row.name)")
  }

  @Test(arguments: table.indices)
  func `the async signIn returns or throws the same outcome that the delegate gets`(index: Int)
    async throws
  {
    let row = Self.table[index]
    let fixture = try OAuthFixture(answer: row.answer, browser: row.browser).register()
    do throws(SQOAuthError) {
      let token = try await fixture.oauth.signIn()
      #expect(row.event == .authorized(token.accessToken), "\(row.name)")
    } catch {
      #expect(row.event == (error.isCancellation ? .cancelled : .failed(error.code)))
    }
    #expect(await fixture.delegate.events(1) == [row.event], "the delegate gets the outcome, too")
  }

  /// With `prompt=none` the server shows no page, so no user has denied consent.
  @Test(arguments: [("none", false), ("none login", false), ("consent", true), ("nonesuch", true)])
  func `consent_required is a denial only if the server may have shown pages`(
    prompt: String, isDenial: Bool
  ) async throws {
    let code = SQOAuthError.Code(rawValue: "consent_required")
    var provider = Provider.endpoints(
      authorization: "https://id.example/authorize", token: "https://id.example/token")
    provider.authorizationParameters = ["prompt": prompt]
    let fixture = try OAuthFixture(browser: Self.answers("error=consent_required"))
      .register(provider: provider)
    let error = await failure(code) { try await fixture.oauth.signIn() }
    #expect(error?.isCancellation == isDenial && error?.requiresSignIn == false)
    #expect(await fixture.delegate.events(1) == [isDenial ? .cancelled : .failed(code)])
    #expect(fixture.http.requests.isEmpty)
  }

  @Test func `a sign-in without a registered client is reported to the delegate`() async throws {
    let fixture = OAuthFixture()
    fixture.oauth.authorizeUser()
    #expect(await fixture.delegate.events(1) == [.failed(.notRegistered)])
    await failure(.notRegistered) { try await fixture.oauth.signIn() }
    #expect(fixture.opened.isEmpty && fixture.http.requests.isEmpty)
  }

  @Test func `invalid registration parameters are reported to the delegate`() async throws {
    let fixture = OAuthFixture()
    for (id, redirect) in [("", "com.example.app:/cb"), ("id", "http://app.example/"), ("id", "")] {
      fixture.oauth.registerApplicationParameters(
        clientID: id, redirectURI: redirect, provider: .sequencing)
      await failure(.invalidConfiguration) { try await fixture.oauth.signIn() }
    }
    #expect(
      await fixture.delegate.events(3)
        == Array(repeating: .failed(.invalidConfiguration), count: 3))
    #expect(fixture.opened.isEmpty)
  }

  @Test func `a rejected token request leaves no token in memory or in the store`() async throws {
    let fixture = try OAuthFixture(answer: ScriptedTransport.json("{}", status: 400)).register()
    await failure { try await fixture.oauth.signIn() }
    #expect(fixture.oauth.result.token == nil)
    #expect(await fixture.store.list().isEmpty)
  }

  // MARK: Why a sign-in was cancelled

  /// A screen that shows why a sign-in was cancelled.
  private final class Explaining: AuthorizationDelegate, Sendable {
    let shown = Locked<[String]>([])
    func userIsSuccessfullyAuthorized(_ token: SQToken) {}
    func userIsNotAuthorized() { add("not authorized") }
    func userDidCancelAuthorization() { add("cancelled") }
    func userDidCancelAuthorization(because error: SQOAuthError) { add("\(error.code)") }
    private func add(_ text: String) { shown.withLock { $0.append(text) } }
  }

  /// A screen that treats every sign-in without a token alike.
  private final class Plain: AuthorizationDelegate, Sendable {
    let shown = Locked<[String]>([])
    func userIsSuccessfullyAuthorized(_ token: SQToken) {}
    func userIsNotAuthorized() { shown.withLock { $0.append("not authorized") } }
  }

  @Test(arguments: [
    ("error=access_denied", "access_denied"), ("error=consent_required", "consent_required"),
  ])
  func `a delegate gets the reason of a denied sign-in`(query: String, code: String) async throws {
    let fixture = try OAuthFixture(browser: Self.answers(query)).register()
    let (explaining, plain) = (Explaining(), Plain())
    fixture.oauth.authorizationDelegate = explaining
    fixture.oauth.authorizeUser()
    try await eventually { explaining.shown.withLock(\.self) == [code] }
    fixture.oauth.authorizationDelegate = plain
    fixture.oauth.authorizeUser()
    try await eventually { plain.shown.withLock(\.self) == ["not authorized"] }
    #expect(explaining.shown.withLock(\.count) == 1)
  }

  @Test func `a delegate can tell a timeout from the app's own cancellation`() async throws {
    let fixture = try OAuthFixture(browser: OAuthFixture.idle).register {
      $0.signInTimeout = .seconds(5)
    }
    let explaining = Explaining()
    fixture.oauth.authorizationDelegate = explaining
    fixture.oauth.authorizeUser()
    _ = try await fixture.isWaiting()
    fixture.clock.advance(by: 5)
    try await eventually { explaining.shown.withLock(\.self) == ["timed_out"] }
    fixture.oauth.authorizeUser()
    fixture.oauth.cancelSignIn()
    try await eventually { explaining.shown.withLock(\.self) == ["timed_out", "cancelled"] }
  }
}
