import Foundation
import SequencingOAuth
import TestSupport
import Testing

/// Who ends a sign-in, and for whom.
@Suite(.timeLimit(.minutes(1))) struct CancellationTests {
  let bench: OAuthFixture

  init() throws {
    bench = try OAuthFixture(browser: OAuthFixture.idle).register()
  }

  @Test func `cancelling ends the sign-in and the redirect that comes later is refused`()
    async throws
  {
    bench.oauth.authorizeUser()
    let page = try await bench.isWaiting()
    bench.oauth.cancelSignIn()
    bench.oauth.cancelSignIn()
    #expect(!bench.oauth.isSigningIn)
    #expect(!bench.oauth.handleRedirect(try page.redirect("code=abc")))
    #expect(await bench.delegate.events(1) == [.cancelled])
    #expect(bench.http.requests.isEmpty && bench.oauth.result.token == nil)
  }

  @Test func `cancelling nothing tells nothing`() async throws {
    bench.oauth.cancelSignIn()
    bench.oauth.authorizeUser()
    let page = try await bench.isWaiting()
    bench.oauth.handleRedirect(try page.redirect("code=abc"))
    #expect(await bench.delegate.events(1) == [.authorized("T")])
  }

  @Test func `a new sign-in may follow a cancellation at once`() async throws {
    bench.oauth.authorizeUser()
    let first = try await bench.isWaiting()
    bench.oauth.cancelSignIn()
    bench.oauth.authorizeUser()
    try await eventually { [bench] in bench.opened.count == 2 }
    let second = try await bench.isWaiting(opened: 2)
    #expect(first.state != second.state)
    #expect(!bench.oauth.handleRedirect(try first.redirect("code=old")))
    #expect(bench.oauth.handleRedirect(try second.redirect("code=new")))
    #expect(await bench.delegate.events(2) == [.cancelled, .authorized("T")])
    #expect(bench.http.forms.map { $0["code"] } == ["new"])
  }

  @Test func `a sign-in that is cancelled before it began is told all the same`() async throws {
    for count in 1...50 {
      bench.oauth.authorizeUser()
      bench.oauth.cancelSignIn()
      #expect(await bench.delegate.events(count) == Array(repeating: .cancelled, count: count))
    }
    #expect(bench.http.requests.isEmpty)
  }

  @Test func `the only awaiting task's cancellation ends the sign-in`() async throws {
    let task = Task { [bench] in
      await failure(.cancelled) { try await bench.oauth.signIn() }
    }
    let page = try await bench.isWaiting()
    task.cancel()
    _ = await task.value
    #expect(await bench.delegate.events(1) == [.cancelled])
    #expect(!bench.oauth.handleRedirect(try page.redirect("code=abc")))
    #expect(!bench.oauth.isSigningIn)
  }

  @Test func `one awaiting task's cancellation ends no one else's wait`() async throws {
    let staying = Task { [bench] in try await bench.oauth.signIn() }
    let page = try await bench.isWaiting()
    for _ in 0..<20 {
      let leaving = Task { [bench] in
        await failure(.cancelled) { try await bench.oauth.signIn() }
      }
      await Task.yield()
      leaving.cancel()
      _ = await leaving.value
    }
    #expect(bench.oauth.handleRedirect(try page.redirect("code=abc")))
    #expect(try await staying.value.accessToken == "T")
    #expect(await bench.delegate.events(1) == [.authorized("T")])
    #expect(bench.opened.count == 1)
  }

  @Test func `a task's cancellation does not end what authorizeUser started`() async throws {
    bench.oauth.authorizeUser()
    let page = try await bench.isWaiting()
    let task = Task { [bench] in
      await failure(.cancelled) { try await bench.oauth.signIn() }
    }
    task.cancel()
    _ = await task.value
    #expect(bench.oauth.isSigningIn)
    #expect(bench.oauth.handleRedirect(try page.redirect("code=abc")))
    #expect(await bench.delegate.events(1) == [.authorized("T")])
  }

  @Test func `authorizeUser makes a task's sign-in last without it`() async throws {
    let task = Task { [bench] in
      await failure(.cancelled) { try await bench.oauth.signIn() }
    }
    let page = try await bench.isWaiting()
    bench.oauth.authorizeUser()
    task.cancel()
    _ = await task.value
    #expect(bench.oauth.handleRedirect(try page.redirect("code=abc")))
    #expect(await bench.delegate.events(1) == [.authorized("T")])
    #expect(bench.opened.count == 1)
  }

  @Test func `a task that is cancelled before it asks begins no sign-in`() async throws {
    await askInCancelledTask()
    #expect(!bench.oauth.isSigningIn)
    // What it had begun would have to end before this one.
    bench.oauth.authorizeUser()
    let page = try await bench.isWaiting()
    await askInCancelledTask()
    #expect(bench.oauth.isSigningIn, "it ends none either")
    #expect(bench.oauth.handleRedirect(try page.redirect("code=abc")))
    #expect(await bench.delegate.events(1) == [.authorized("T")])
    #expect(bench.opened.count == 1)
  }

  private func askInCancelledTask() async {
    let task = Task { [bench] in
      withUnsafeCurrentTask { $0?.cancel() }
      await failure(.cancelled) { try await bench.oauth.signIn() }
    }
    await task.value
  }

  /// The browser's command may stay until the user is done; nobody wants it any more then.
  @Test func `the user agent is cancelled when the sign-in ends`() async throws {
    for query in ["code=abc", "error=access_denied", nil] {
      let staying = try OAuthFixture(browser: { bench, page in
        if let query { bench.oauth.handleRedirect(try page.redirect(query)) }
        try await bench.clock.sleep(until: .distantFuture)
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

  @Test func `cancelling during the token request ends it with one outcome`() async throws {
    let stuck = try OAuthFixture(
      answer: { request in
        try await Task.sleep(for: .seconds(600))
        return HTTPResponse(status: 500)
      }, browser: OAuthFixture.allow
    ).register()
    stuck.oauth.authorizeUser()
    try await eventually { stuck.http.requests.count == 1 }
    stuck.oauth.cancelSignIn()
    #expect(await stuck.delegate.events(1) == [.cancelled])
    #expect(stuck.oauth.result.token == nil)
  }
}
