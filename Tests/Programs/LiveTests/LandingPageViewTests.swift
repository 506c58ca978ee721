import Foundation
import ProgramSupport
import SQBasics
import SQLoopback
import SequencingOAuth
import TestSupport
import Testing

/// The page that the browser shows when it returns from the authorization server.
@Suite(.requires(.chromium), .timeLimit(.minutes(15)))
struct LandingPageViewTests {
  @Test func `a forged redirect, a wrong path and the right redirect each get their own page`()
    async throws
  {
    try await withSignIn { browser, screen, redirect in
      try await browser.go(to: redirect.uri + "/elsewhere")
      #expect(try await browser.text(of: "h1") == "There is nothing here")
      try await Look.over(browser, named: "landing-nothing")

      try await browser.go(to: redirect.uri + "?code=forged&state=guessed")
      #expect(try await browser.text(of: "h1") == "This is not the answer we wait for")
      #expect(try await !browser.source.contains("forged"))
      try await Look.over(browser, named: "landing-stranger")
      #expect(screen.events.isEmpty)

      try await browser.go(to: redirect.uri + "?error=access_denied&state=\(redirect.state)")
      #expect(try await browser.text(of: "h1") == "You were not signed in")
      try await Look.over(browser, named: "landing-denied")
      guard case .cancelled = try await screen.event() else {
        Issue.record("not told of the denial: \(screen.events)")
        return
      }
      #expect(screen.events.count == 1)
    }
  }

  @Test func `a failed token request ends on a page that says so`() async throws {
    try await withSignIn { browser, screen, redirect in
      try await browser.go(to: redirect.uri + "?code=unknown&state=\(redirect.state)")
      #expect(try await browser.text(of: "h1") == "The sign\u{2011}in failed")
      #expect(try await !browser.source.contains("unknown"))
      try await Look.over(browser, named: "landing-failed")
      guard case .notAuthorized(let error) = try await screen.event() else {
        Issue.record("not told of the failure: \(screen.events)")
        return
      }
      #expect(error.code == .invalidGrant)
    }
  }

  @Test func `a successful sign-in ends on a page that says so`() async throws {
    let token = #"{"access_token": "t", "token_type": "Bearer", "expires_in": 60}"#
    try await withSignIn(answering: 200, token) { browser, screen, redirect in
      try await browser.go(to: redirect.uri + "?code=right&state=\(redirect.state)")
      #expect(try await browser.text(of: "h1") == "You are signed in")
      try await Look.over(browser, named: "landing-signed-in")
      guard case .authorized = try await screen.event() else {
        Issue.record("not told of the token: \(screen.events)")
        return
      }
    }
  }

  /// Without correction, text in the pale or the dark colours would be unreadable.
  @Test(arguments: [
    ("vivid", "#7a1fa2", "#fff8e1", "#120016"), ("pale", "#fff176", "#ffffff", "#000000"),
    ("dark", "#0b0b2b", "#cfd8dc", "#263238"),
  ])
  func `a landing page with an app's name and colours is readable and loads no resources`(
    name: String, accent: String, background: String, darkBackground: String
  ) async throws {
    let token = #"{"access_token": "t", "token_type": "Bearer", "expires_in": 60}"#
    let style = LandingPageStyle(
      appName: "<b>Files & \u{05E7}\u{05D1}\u{05E6}\u{05D9}\u{05DD}</b>",
      accent: try PageColor(accent),
      background: try PageColor(background), darkBackground: try PageColor(darkBackground))
    try await withSignIn(answering: 200, token, style: style) { browser, _, redirect in
      try await browser.go(to: redirect.uri + "?code=right&state=\(redirect.state)")
      #expect(try await browser.text(of: ".brand [dir=auto]") == style.appName)
      #expect(try await browser.source.contains("&lt;b&gt;Files &amp;"))
      try await Look.over(browser, named: "landing-style-\(name)")
    }
  }

  private struct Redirect: Sendable {
    let uri: String
    let state: String
  }

  /// Starts a sign-in whose token endpoint gives one answer.
  ///
  /// The test itself opens the redirects, in place of an authorization server.
  private func withSignIn(
    answering status: Int = 400, _ body: String = #"{"error": "invalid_grant"}"#,
    style: LandingPageStyle = LandingPageStyle(),
    _ test: (Browser, Screen, Redirect) async throws -> Void
  ) async throws {
    let server = try LoopbackServer { _ in
      .response(
        LoopbackResponse(
          status: status, headers: [("Content-Type", "application/json")], body: Data(body.utf8)))
    }
    let asked = Locked<URL?>(nil)
    var environment = ClientEnvironment()
    // With a manual clock, the page waits for the token as long as the browser takes.
    environment.clock = ManualClock(now: Date())
    environment.landingPage = style
    environment.userAgent = CustomUserAgent { url in asked.withLock { $0 = url } }
    let screen = Screen()
    let oauth = SQOAuth(environment: environment)
    oauth.authorizationDelegate = screen
    oauth.registerApplicationParameters(
      clientID: "app", redirectURI: "http://127.0.0.1/callback",
      provider: .endpoints(
        authorization: "http://\(server.authority)/authorize",
        token: "http://\(server.authority)/token"))
    oauth.authorizeUser()
    let url = try await eventually("the browser is opened") { asked.withLock { $0 } }
    let items = URLComponents(url: url, resolvingAgainstBaseURL: false)?.queryItems ?? []
    let redirect = Redirect(
      uri: try #require(items.first { $0.name == "redirect_uri" }?.value),
      state: try #require(items.first { $0.name == "state" }?.value))
    try await Browser.open { try await test($0, screen, redirect) }
    await server.stop()
  }
}
