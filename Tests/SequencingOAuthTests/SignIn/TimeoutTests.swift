import Foundation
import SequencingOAuth
import TestSupport
import Testing

/// A sign-in without an answer ends when its time is over.
@Suite(.timeLimit(.minutes(1))) struct TimeoutTests {
  func bench(_ timeout: Duration = .seconds(300)) throws -> OAuthFixture {
    try OAuthFixture(browser: OAuthFixture.idle).register { $0.signInTimeout = timeout }
  }

  @Test func `it ends when the time is over, not before, and late answers are refused`()
    async throws
  {
    let bench = try bench()
    async let error = failure(.timedOut) { try await bench.oauth.signIn() }
    let page = try await bench.isWaiting()
    bench.clock.advance(by: 299)
    #expect(bench.oauth.isSigningIn)
    bench.clock.advance(by: 1)
    #expect(await error?.isCancellation == true)
    #expect(await bench.delegate.events(1) == [.cancelled])
    #expect(!bench.oauth.handleRedirect(try page.redirect("code=abc")))
    #expect(bench.http.requests.isEmpty && bench.oauth.result.token == nil)
    #expect(!bench.oauth.isSigningIn)
  }

  @Test func `the answer a second before the end counts`() async throws {
    let bench = try bench()
    bench.oauth.authorizeUser()
    let page = try await bench.isWaiting()
    bench.clock.advance(by: 299)
    #expect(bench.oauth.handleRedirect(try page.redirect("code=abc")))
    #expect(await bench.delegate.events(1) == [.authorized("T")])
    bench.clock.advance(by: 1_000)
    #expect(bench.delegate.events.count == 1)
    #expect(bench.clock.sleepers == 0, "nothing waits for the end any more")
  }

  /// A server that alters the state leads nowhere; that is what the app must hear, and as a failure.
  @Test(arguments: [["code=abc&state=wrong"], ["code=abc"], ["error=access_denied&state="]])
  func `a wrong state before the end is the reason that is told`(queries: [String]) async throws {
    let bench = try bench(.seconds(5))
    async let error = failure(.stateMismatch) { try await bench.oauth.signIn() }
    let page = try await bench.isWaiting()
    for query in queries { #expect(!bench.oauth.handleRedirect(try page.forged(query))) }
    #expect(bench.oauth.isSigningIn, "it does not consume the sign-in")
    bench.clock.advance(by: 5)
    #expect(await error?.isCancellation == false)
    #expect(await bench.delegate.events(1) == [.failed(.stateMismatch)])
    #expect(bench.http.requests.isEmpty)
  }

  @Test func `the right answer after a wrong one counts`() async throws {
    let bench = try bench()
    bench.oauth.authorizeUser()
    let page = try await bench.isWaiting()
    for query in ["code=evil&state=x", "error=access_denied&state=x", "code=evil", ""] {
      #expect(!bench.oauth.handleRedirect(try page.forged(query)))
    }
    #expect(bench.oauth.handleRedirect(try page.redirect("code=good")))
    #expect(await bench.delegate.events(1) == [.authorized("T")])
    #expect(bench.http.forms.map { $0["code"] } == ["good"])
  }

  @Test func `a redirect for another address does not count as a wrong state`() async throws {
    let bench = try bench()
    async let error = failure(.timedOut) { try await bench.oauth.signIn() }
    _ = try await bench.isWaiting()
    let other = try #require(URL(string: "com.example.other:/cb?code=abc&state=x"))
    #expect(!bench.oauth.handleRedirect(other))
    bench.clock.advance(by: 300)
    _ = await error
  }

  @Test(arguments: [Duration.zero, .milliseconds(1), .seconds(86_400 * 400)])
  func `any length of time works`(timeout: Duration) async throws {
    let bench = try bench(timeout)
    async let error = failure(.timedOut) { try await bench.oauth.signIn() }
    if timeout > .seconds(1) {
      _ = try await bench.isWaiting()
      bench.clock.advance(by: 86_400 * 401)
    } else {
      try await eventually {
        bench.clock.advance(by: 1)
        return !bench.oauth.isSigningIn && bench.delegate.events.count == 1
      }
    }
    _ = await error
  }
}
