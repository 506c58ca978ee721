import Foundation
import SQBasics
import SequencingOAuth
import Testing

@testable import TestSupport

/// A sign-in without an answer ends when its time is over.
@Suite(.timeLimit(.minutes(1))) struct TimeoutTests {
  func fixture(_ timeout: Duration = .seconds(300)) throws -> OAuthFixture {
    try OAuthFixture(browser: OAuthFixture.idle).register { $0.signInTimeout = timeout }
  }

  @Test func `a sign-in ends at its time limit, and late answers are rejected`()
    async throws
  {
    let fixture = try fixture()
    async let error = failure(.timedOut) { try await fixture.oauth.signIn() }
    let page = try await fixture.isWaiting()
    fixture.clock.advance(by: 299)
    #expect(fixture.oauth.isSigningIn)
    fixture.clock.advance(by: 1)
    #expect(await error?.isCancellation == true)
    #expect(await fixture.delegate.events(1) == [.cancelled])
    #expect(!fixture.oauth.handleRedirect(try page.redirect("code=abc")))
    #expect(fixture.http.requests.isEmpty && fixture.oauth.result.token == nil)
    #expect(!fixture.oauth.isSigningIn)
  }

  @Test func `an answer one second before the time limit is used`() async throws {
    let fixture = try fixture()
    fixture.oauth.authorizeUser()
    let page = try await fixture.isWaiting()
    fixture.clock.advance(by: 299)
    #expect(fixture.oauth.handleRedirect(try page.redirect("code=abc")))
    #expect(await fixture.delegate.events(1) == [.authorized("T")])
    fixture.clock.advance(by: 1_000)
    #expect(fixture.delegate.events.count == 1)
    #expect(fixture.clock.sleepers == 0, "nothing waits for the end any more")
  }

  /// A sign-in at a server that alters the state cannot succeed, so the app must get the wrong
  /// state as a failure.
  @Test(arguments: [["code=abc&state=wrong"], ["code=abc"], ["error=access_denied&state="]])
  func `after a redirect with a wrong state, the timeout is reported as a state mismatch`(
    queries: [String]
  ) async throws {
    let fixture = try fixture(.seconds(5))
    async let error = failure(.stateMismatch) { try await fixture.oauth.signIn() }
    let page = try await fixture.isWaiting()
    for query in queries { #expect(!fixture.oauth.handleRedirect(try page.forged(query))) }
    #expect(fixture.oauth.isSigningIn, "the redirect does not end the sign-in")
    fixture.clock.advance(by: 5)
    #expect(await error?.isCancellation == false)
    #expect(await fixture.delegate.events(1) == [.failed(.stateMismatch)])
    #expect(fixture.http.requests.isEmpty)
  }

  @Test func `after an unexpected signed response, the timeout is reported as an invalid response`()
    async throws
  {
    let fixture = try fixture(.seconds(5))
    async let error = failure(.invalidAuthorizationResponse) { try await fixture.oauth.signIn() }
    let page = try await fixture.isWaiting()
    #expect(fixture.oauth.receiveRedirect(try page.forged("response=a.b.c")) == .wrongState)
    #expect(fixture.oauth.isSigningIn, "anyone may have sent it")
    fixture.clock.advance(by: 5)
    #expect(await error?.message.contains("authorizationResponseAlgorithm") == true)
  }

  @Test func `the timeout's message contains the last error that came without a state`()
    async throws
  {
    let fixture = try fixture(.seconds(5))
    async let error = failure(.stateMismatch) { try await fixture.oauth.signIn() }
    let page = try await fixture.isWaiting()
    for query in [
      "error=server_error", "error=login_required&error_description=Please%0Alog%20in",
      "error=access_denied&state=x", "code=evil",
    ] {
      #expect(fixture.oauth.receiveRedirect(try page.forged(query)) == .wrongState)
    }
    fixture.clock.advance(by: 5)
    let message = try #require(await error).message
    #expect(message.hasPrefix("a redirect without a state said: login_required (Please"))
    #expect(!message.contains("access_denied") && !message.contains("\n"))
  }

  @Test(arguments: [-86_400.0, -1, 1, 86_400])
  func `a change of the date neither ends nor lengthens the wait`(seconds: Double) async throws {
    let fixture = try fixture()
    async let error = failure(.timedOut) { try await fixture.oauth.signIn() }
    _ = try await fixture.isWaiting()
    await fixture.clock.hasSleeper()
    fixture.clock.moveDate(by: seconds)
    fixture.clock.advance(by: 299)
    #expect(fixture.oauth.isSigningIn)
    fixture.clock.advance(by: 1)
    _ = await error
  }

  @Test func `an error without a state is reported to the user agent at once, and only once`()
    async throws
  {
    let told = Locked<[SQOAuthError]>([])
    let fixture = try fixture()
    fixture.oauth.environment.userAgent = Listener(
      browser: fixture.oauth.environment.userAgent,
      told: { error in
        told.withLock { $0.append(error) }
      })
    fixture.oauth.authorizeUser()
    let page = try await fixture.isWaiting()
    for query in ["error=access_denied&state=x", "code=evil", "error=login_required", "error=x"] {
      #expect(!fixture.oauth.handleRedirect(try page.forged(query)))
    }
    let error = try await eventually("the user agent is notified") { told.withLock(\.first) }
    #expect(error.code == .stateMismatch)
    #expect(error.message.hasPrefix("a redirect without a state said: login_required"))
    #expect(fixture.oauth.handleRedirect(try page.redirect("code=good")))
    #expect(await fixture.delegate.events(1) == [.authorized("T")])
    #expect(told.withLock(\.count) == 1)
  }

  private struct Listener: UserAgent {
    let browser: any UserAgent
    let told: @Sendable (SQOAuthError) -> Void

    func open(_ url: URL) async throws {
      try await browser.open(url)
    }

    func open(_ url: URL, for signIn: PendingSignIn) async throws {
      try await browser.open(url, for: signIn)
    }

    func didRefuse(_ error: SQOAuthError, for signIn: PendingSignIn) {
      told(error)
    }
  }

  @Test func `the right answer after a wrong one is used`() async throws {
    let fixture = try fixture()
    fixture.oauth.authorizeUser()
    let page = try await fixture.isWaiting()
    for query in ["code=evil&state=x", "error=access_denied&state=x", "code=evil", ""] {
      #expect(!fixture.oauth.handleRedirect(try page.forged(query)))
    }
    #expect(fixture.oauth.handleRedirect(try page.redirect("code=good")))
    #expect(await fixture.delegate.events(1) == [.authorized("T")])
    #expect(fixture.http.forms.map { $0["code"] } == ["good"])
  }

  @Test func `a redirect to another address is not reported as a wrong state`() async throws {
    let fixture = try fixture()
    async let error = failure(.timedOut) { try await fixture.oauth.signIn() }
    _ = try await fixture.isWaiting()
    let other = try #require(URL(string: "com.example.other:/cb?code=abc&state=x"))
    #expect(!fixture.oauth.handleRedirect(other))
    fixture.clock.advance(by: 300)
    _ = await error
  }

  @Test(arguments: [Duration.zero, .milliseconds(1), .seconds(86_400 * 400)])
  func `a sign-in times out after a limit of zero, a millisecond or 400 days`(timeout: Duration)
    async throws
  {
    let fixture = try fixture(timeout)
    async let error = failure(.timedOut) { try await fixture.oauth.signIn() }
    if timeout > .seconds(1) {
      _ = try await fixture.isWaiting()
      fixture.clock.advance(by: 86_400 * 401)
    } else {
      try await eventually {
        fixture.clock.advance(by: 1)
        return !fixture.oauth.isSigningIn && fixture.delegate.events.count == 1
      }
    }
    _ = await error
  }
}
