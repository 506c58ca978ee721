import Foundation
import SQBasics
import SequencingOAuth
import Testing

@testable import TestSupport

/// Who can cancel a sign-in, and for whom.
@Suite(.timeLimit(.minutes(1))) struct CancellationTests {
  let fixture: OAuthFixture

  init() throws {
    fixture = try OAuthFixture(browser: OAuthFixture.idle).register()
  }

  @Test func `cancelling ends the sign-in, and a later redirect is rejected`()
    async throws
  {
    fixture.oauth.authorizeUser()
    let page = try await fixture.isWaiting()
    fixture.oauth.cancelSignIn()
    fixture.oauth.cancelSignIn()
    #expect(!fixture.oauth.isSigningIn)
    #expect(!fixture.oauth.handleRedirect(try page.redirect("code=abc")))
    #expect(await fixture.delegate.events(1) == [.cancelled])
    #expect(fixture.http.requests.isEmpty && fixture.oauth.result.token == nil)
  }

  @Test func `cancelling without a sign-in notifies no delegate`() async throws {
    fixture.oauth.cancelSignIn()
    fixture.oauth.authorizeUser()
    let page = try await fixture.isWaiting()
    fixture.oauth.handleRedirect(try page.redirect("code=abc"))
    #expect(await fixture.delegate.events(1) == [.authorized("T")])
  }

  @Test func `a new sign-in may follow a cancellation at once`() async throws {
    fixture.oauth.authorizeUser()
    let first = try await fixture.isWaiting()
    fixture.oauth.cancelSignIn()
    fixture.oauth.authorizeUser()
    try await eventually { [fixture] in fixture.opened.count == 2 }
    let second = try await fixture.isWaiting(opened: 2)
    #expect(first.state != second.state)
    #expect(!fixture.oauth.handleRedirect(try first.redirect("code=old")))
    #expect(fixture.oauth.handleRedirect(try second.redirect("code=new")))
    #expect(await fixture.delegate.events(2) == [.cancelled, .authorized("T")])
    #expect(fixture.http.forms.map { $0["code"] } == ["new"])
  }

  @Test func `a sign-in that is cancelled before it begins is still reported`() async throws {
    for count in 1...50 {
      fixture.oauth.authorizeUser()
      fixture.oauth.cancelSignIn()
      #expect(await fixture.delegate.events(count) == Array(repeating: .cancelled, count: count))
    }
    #expect(fixture.http.requests.isEmpty)
  }

  @Test func `cancelling the only waiting task ends the sign-in`() async throws {
    let task = Task { [fixture] in
      await failure(.cancelled) { try await fixture.oauth.signIn() }
    }
    let page = try await fixture.isWaiting()
    task.cancel()
    _ = await task.value
    #expect(await fixture.delegate.events(1) == [.cancelled])
    #expect(!fixture.oauth.handleRedirect(try page.redirect("code=abc")))
    #expect(!fixture.oauth.isSigningIn)
  }

  @Test func `cancelling one of several waiting tasks does not end the sign-in`() async throws {
    let staying = Task { [fixture] in try await fixture.oauth.signIn() }
    let page = try await fixture.isWaiting()
    for _ in 0..<20 {
      let leaving = Task { [fixture] in
        await failure(.cancelled) { try await fixture.oauth.signIn() }
      }
      await Task.yield()
      leaving.cancel()
      _ = await leaving.value
    }
    #expect(fixture.oauth.handleRedirect(try page.redirect("code=abc")))
    #expect(try await staying.value.accessToken == "T")
    #expect(await fixture.delegate.events(1) == [.authorized("T")])
    #expect(fixture.opened.count == 1)
  }

  @Test func `cancelling a task does not end a sign-in that authorizeUser started`() async throws {
    fixture.oauth.authorizeUser()
    let page = try await fixture.isWaiting()
    let task = Task { [fixture] in
      await failure(.cancelled) { try await fixture.oauth.signIn() }
    }
    task.cancel()
    _ = await task.value
    #expect(fixture.oauth.isSigningIn)
    #expect(fixture.oauth.handleRedirect(try page.redirect("code=abc")))
    #expect(await fixture.delegate.events(1) == [.authorized("T")])
  }

  @Test
  func `a task's sign-in that authorizeUser has joined continues after the task is cancelled`()
    async throws
  {
    let task = Task { [fixture] in
      await failure(.cancelled) { try await fixture.oauth.signIn() }
    }
    let page = try await fixture.isWaiting()
    fixture.oauth.authorizeUser()
    task.cancel()
    _ = await task.value
    #expect(fixture.oauth.handleRedirect(try page.redirect("code=abc")))
    #expect(await fixture.delegate.events(1) == [.authorized("T")])
    #expect(fixture.opened.count == 1)
  }

  @Test func `a task that is already cancelled does not start a sign-in`() async throws {
    await askInCancelledTask()
    #expect(!fixture.oauth.isSigningIn)
    // If the cancelled task had started a sign-in, the end of that sign-in would be reported first.
    fixture.oauth.authorizeUser()
    let page = try await fixture.isWaiting()
    await askInCancelledTask()
    #expect(fixture.oauth.isSigningIn, "it does not end a running sign-in either")
    #expect(fixture.oauth.handleRedirect(try page.redirect("code=abc")))
    #expect(await fixture.delegate.events(1) == [.authorized("T")])
    #expect(fixture.opened.count == 1)
  }

  private func askInCancelledTask() async {
    let task = Task { [fixture] in
      withUnsafeCurrentTask { $0?.cancel() }
      await failure(.cancelled) { try await fixture.oauth.signIn() }
    }
    await task.value
  }

  /// A command that opens the browser may run until the user closes the browser; after the sign-in
  /// it is not needed.
  @Test func `the user agent is cancelled when the sign-in ends`() async throws {
    for query in ["code=abc", "error=access_denied", nil] {
      let staying = try OAuthFixture(browser: { fixture, page in
        if let query { fixture.oauth.handleRedirect(try page.redirect(query)) }
        try await fixture.clock.sleep(until: .distantFuture)
      }).register()
      staying.oauth.authorizeUser()
      if query == nil {
        try await eventually { staying.opened.count == 1 }
        staying.oauth.cancelSignIn()
      }
      _ = await staying.delegate.events(1)
      try await eventually { staying.clock.sleepers == 0 }
    }
  }

  @Test func `a browser that reports its own cancellation ends the sign-in`() async throws {
    let closed = try OAuthFixture(browser: { _, _ in throw CancellationError() }).register()
    await failure(.cancelled) { try await closed.oauth.signIn() }
  }

  @Test func `cancelling during the token request ends the sign-in as cancelled`() async throws {
    let stuck = try OAuthFixture(
      answer: { request in
        try await Task.sleep(for: .seconds(600))
        return WebResponse(status: 500)
      }, browser: OAuthFixture.allow
    ).register()
    stuck.oauth.authorizeUser()
    try await eventually { stuck.http.requests.count == 1 }
    stuck.oauth.cancelSignIn()
    #expect(await stuck.delegate.events(1) == [.cancelled])
    #expect(stuck.oauth.result.token == nil)
  }
}
