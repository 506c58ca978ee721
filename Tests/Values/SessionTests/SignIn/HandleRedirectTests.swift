import Foundation
import SQBasics
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// How a redirect that the app receives reaches its sign-in.
@Suite(.timeLimit(.minutes(1))) struct HandleRedirectTests {
  @Test func `without a sign-in, handleRedirect returns false`() throws {
    let fixture = try OAuthFixture().register()
    let url = try #require(URL(string: "com.example.app:/cb?code=abc&state=x"))
    #expect(!fixture.oauth.handleRedirect(url))
    #expect(!OAuthFixture().oauth.handleRedirect(url))
    #expect(fixture.http.requests.isEmpty && fixture.delegate.events.isEmpty)
  }

  @Test(arguments: [
    "com.example.other:/cb", "com.example.app:/other", "com.example.app:/cb/more",
    "com.example.app://cb", "https://com.example.app/cb", "com.example.app:/CB",
  ])
  func `a URL with a different scheme, host or path is rejected, and the sign-in continues`(
    address: String
  ) async throws {
    let fixture = try OAuthFixture(browser: OAuthFixture.idle).register()
    fixture.oauth.authorizeUser()
    let page = try await fixture.isWaiting()
    let url = try #require(URL(string: "\(address)?code=abc&state=\(page.state)"))
    #expect(!fixture.oauth.handleRedirect(url))
    #expect(fixture.oauth.isSigningIn && fixture.http.requests.isEmpty)
    #expect(fixture.oauth.handleRedirect(try page.redirect("code=abc")))
    #expect(await fixture.delegate.events(1) == [.authorized("T")])
  }

  @Test func `of two logouts at once, each gets the redirect with its state`() async throws {
    let signIns = SignIns()
    let logouts = ["1", "2"].map {
      PendingLogout(redirectURI: "com.example.app:/out", state: $0)
    }
    for logout in logouts { signIns.expect(logout) }
    for (logout, state) in zip(logouts, ["1", "2"]) {
      #expect(signIns.offer("com.example.app:/out?state=\(state)") == .answered)
      try await logout.response()
    }
    #expect(signIns.offer("com.example.app:/cb?state=1") == .noSignIn)
  }

  @Test func `a redirect that arrives before the browser opens is not accepted`() async throws {
    let fixture = try SessionFixture()
    fixture.store.loading.close()
    fixture.oauth.authorizeUser()
    try await fixture.store.loading.isHolding()
    #expect(fixture.oauth.isSigningIn)
    let url = try #require(URL(string: "com.example.app:/cb?code=abc&state=x"))
    #expect(!fixture.oauth.handleRedirect(url))
    fixture.store.loading.open()
    #expect(await fixture.fixture.delegate.events(1) == [.authorized("T1")])
  }

  @Test func `of many redirects at the same time, only one is used`() async throws {
    let fixture = try OAuthFixture(browser: OAuthFixture.idle).register()
    fixture.oauth.authorizeUser()
    let page = try await fixture.isWaiting()
    let taken = try await withThrowingTaskGroup(of: Bool.self) { group in
      for index in 0..<20 {
        group.addTask { fixture.oauth.handleRedirect(try page.redirect("code=c\(index)")) }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(taken.count { $0 } == 1)
    #expect(await fixture.delegate.events(1) == [.authorized("T")])
    #expect(fixture.http.requests.count == 1)
  }

  @Test func `a redirect completes the sign-in of its own provider`() async throws {
    let google = try OAuthFixture(browser: OAuthFixture.idle).register(provider: .google)
    let facebook = try OAuthFixture(browser: OAuthFixture.idle).register(provider: .facebook)
    google.oauth.authorizeUser()
    facebook.oauth.authorizeUser()
    let (_, page) = (try await google.isWaiting(), try await facebook.isWaiting())
    let answer = try page.redirect("code=abc")
    // An app passes every URL to every instance.
    #expect(!google.oauth.handleRedirect(answer))
    #expect(facebook.oauth.handleRedirect(answer))
    #expect(await facebook.delegate.events(1) == [.authorized("T")])
    #expect(google.delegate.events.isEmpty && google.http.requests.isEmpty)
    #expect(google.oauth.isSigningIn)
    #expect(facebook.http.requests.map { $0.url.host() } == ["graph.facebook.com"])
  }

  /// An app with the redirect scheme of the Sequencing CocoaPod.
  @Test func `a sign-in with the redirect URI of the Sequencing CocoaPod succeeds`() async throws {
    let fixture = try OAuthFixture().register(redirectURI: "authapp://Default/Authcallback")
    #expect(try await fixture.oauth.signIn().accessToken == "T")
    #expect(fixture.http.forms.first?["redirect_uri"] == "authapp://Default/Authcallback")
  }

  @Test func `a redirect URI keeps its query in the authorization request and the token request`()
    async throws
  {
    let fixture = try OAuthFixture(browser: { fixture, page in
      #expect(page.parameters["redirect_uri"] == "com.example.app:/cb?tenant=7")
      let answer = "com.example.app:/cb?tenant=7&code=abc&state=\(page.state)"
      fixture.oauth.handleRedirect(try #require(URL(string: answer)))
    }).register(redirectURI: "com.example.app:/cb?tenant=7")
    #expect(try await fixture.oauth.signIn().accessToken == "T")
    #expect(fixture.http.forms.first?["redirect_uri"] == "com.example.app:/cb?tenant=7")
  }

  // MARK: - The outcome of a redirect

  @Test func `receiveRedirect returns the reason for each rejected redirect`() async throws {
    let fixture = try OAuthFixture(browser: OAuthFixture.idle).register()
    let oauth = fixture.oauth
    #expect(oauth.receiveRedirect("com.example.app:/cb?code=abc&state=x") == .noSignIn)
    oauth.authorizeUser()
    let page = try await fixture.isWaiting()
    let right = try page.redirect("code=abc")
    for (redirect, outcome) in [
      ("com.example.app:/other?code=abc&state=\(page.state)", RedirectOutcome.foreignAddress),
      ("nonsense", .foreignAddress), ("", .foreignAddress),
      ("com.example.app:/cb?code=abc", .wrongState),
      ("com.example.app:/cb?code=abc&state=x", .wrongState),
      ("com.example.app:/cb", .wrongState), ("com.example.app:/cb?code=%zz", .wrongState),
    ] {
      #expect(oauth.receiveRedirect(redirect) == outcome, "\(redirect)")
      #expect(oauth.module.receiveRedirect(redirect) == outcome)
      #expect(!oauth.module.handleRedirect(redirect))
      guard let url = URL(string: redirect) else { continue }
      #expect(oauth.receiveRedirect(url) == outcome)
      #expect(oauth.module.receiveRedirect(url) == outcome && !oauth.handleRedirect(url))
    }
    #expect(oauth.isSigningIn && fixture.http.requests.isEmpty)
    #expect(oauth.receiveRedirect(right) == .answered)
    #expect(await fixture.delegate.events(1) == [.authorized("T")])
  }

  /// A browser repeats a request if the user reloads the page, and a system may deliver a redirect
  /// twice.
  @Test(arguments: [("code=abc", "code=other"), ("error=access_denied", "error=server_error")])
  func `a repeated redirect is accepted but used once, and a different one is reported as too late`(
    query: String, other: String
  ) async throws {
    let gate = Gate()
    gate.close()
    let token = ScriptedTransport.token()
    let fixture = try OAuthFixture(
      answer: {
        await gate.pass()
        return try await token($0)
      }, browser: OAuthFixture.idle
    ).register()
    fixture.oauth.authorizeUser()
    let page = try await fixture.isWaiting()
    let answer = try page.redirect(query)
    #expect(fixture.oauth.receiveRedirect(answer) == .answered)
    let isDenied = query.hasPrefix("error")
    if !isDenied {
      try await gate.isHolding()
      #expect(fixture.oauth.receiveRedirect(answer) == .answered)
      #expect(fixture.oauth.handleRedirect(answer))
      for query in [other, "", "\(query)&iss=x&iss=x"] {
        #expect(fixture.oauth.receiveRedirect(try page.redirect(query)) == .tooLate)
      }
      #expect(fixture.oauth.receiveRedirect(try page.forged("\(query)&state=x")) == .wrongState)
      gate.open()
    }
    #expect(await fixture.delegate.events(1) == [isDenied ? .cancelled : .authorized("T")])
    #expect(fixture.oauth.receiveRedirect(answer) == .answered)
    #expect(fixture.oauth.receiveRedirect(try page.redirect(other)) == .tooLate)
    #expect(fixture.oauth.receiveRedirect(try page.forged("\(query)&state=x")) == .noSignIn)
    #expect(fixture.oauth.receiveRedirect("com.example.app:/other") == .noSignIn)
    #expect(fixture.http.requests.count == (isDenied ? 0 : 1))
    #expect(fixture.delegate.events.count == 1)
  }

  @Test func `a redirect for a cancelled or timed-out sign-in is reported as too late`()
    async throws
  {
    let fixture = try OAuthFixture(browser: OAuthFixture.idle).register()
    for (round, isTimeout) in [(1, false), (2, true)] {
      fixture.oauth.authorizeUser()
      let page = try await fixture.isWaiting(opened: round)
      if isTimeout { fixture.clock.advance(by: 300) } else { fixture.oauth.cancelSignIn() }
      #expect(await fixture.delegate.events(round).count == round)
      #expect(fixture.oauth.receiveRedirect(try page.redirect("code=abc")) == .tooLate)
    }
    // Only the last sign-in is remembered, and a running one takes precedence.
    let first = try #require(fixture.opened.first)
    #expect(fixture.oauth.receiveRedirect(try first.redirect("code=abc")) == .noSignIn)
    fixture.oauth.authorizeUser()
    _ = try await fixture.isWaiting(opened: 3)
    #expect(fixture.oauth.receiveRedirect(try first.redirect("code=abc")) == .wrongState)
    #expect(fixture.http.requests.isEmpty)
    fixture.oauth.cancelSignIn()
  }

  @Test func `receiveRedirect returns noSignIn before the browser opens`() async throws {
    let fixture = try SessionFixture()
    fixture.store.loading.close()
    fixture.oauth.authorizeUser()
    try await fixture.store.loading.isHolding()
    #expect(fixture.oauth.receiveRedirect("com.example.app:/cb?code=abc&state=x") == .noSignIn)
    fixture.store.loading.open()
    #expect(await fixture.fixture.delegate.events(1) == [.authorized("T1")])
  }
}
