import Dispatch
import SQBasics
import SequencingOAuth
import Testing

@testable import TestSupport

/// The reference to a delegate, and the actor or queue of its calls.
@Suite(.timeLimit(.minutes(1))) struct DelegateTests {
  /// A delegate with only the required methods.
  final class Plain: AuthorizationDelegate, Sendable {
    let calls = Locked<[String]>([])
    func userIsSuccessfullyAuthorized(_ token: SQToken) { calls.withLock { $0.append("yes") } }
    func userIsNotAuthorized() { calls.withLock { $0.append("no") } }
  }

  /// A screen of an app with a user interface.
  @MainActor final class Screen: AuthorizationDelegate {
    private(set) var title = "login"
    func userIsSuccessfullyAuthorized(_ token: SQToken) { title = "main" }
    func userIsNotAuthorized() { title = "login again" }
  }

  @Test(arguments: [
    ("code=abc", "yes"), ("error=server_error", "no"), ("error=access_denied", "no"),
  ])
  func `a delegate with only the two required methods gets every outcome once`(
    query: String, call: String
  ) async throws {
    let plain = Plain()
    let fixture = try OAuthFixture(browser: DelegateOutcomeTests.answers(query)).register()
    fixture.oauth.authorizationDelegate = plain
    fixture.oauth.authorizeUser()
    try await eventually { !plain.calls.withLock(\.isEmpty) }
    fixture.oauth.authorizeUser()
    try await eventually { plain.calls.withLock(\.count) >= 2 }
    #expect(plain.calls.withLock(\.self) == [call, call])
  }

  @Test @MainActor func `a screen on the main actor can be the delegate`() async throws {
    let screen = Screen()
    let fixture = try OAuthFixture().register()
    fixture.oauth.authorizationDelegate = screen
    fixture.oauth.authorizeUser()
    try await eventually { screen.title == "main" }
  }

  @Test func `the delegate is held weakly`() async throws {
    let fixture = try OAuthFixture().register()
    weak var released: Plain?
    do {
      let plain = Plain()
      released = plain
      fixture.oauth.authorizationDelegate = plain
      #expect(fixture.oauth.authorizationDelegate === plain)
    }
    #expect(released == nil)
    #expect(fixture.oauth.authorizationDelegate == nil)
    #expect(try await fixture.oauth.signIn().accessToken == "T")
  }

  @Test func `a delegate may be released during the sign-in`() async throws {
    let fixture = try OAuthFixture(browser: OAuthFixture.idle).register()
    do {
      let plain = Plain()
      fixture.oauth.authorizationDelegate = plain
      fixture.oauth.authorizeUser()
      _ = try await fixture.isWaiting()
    }
    let page = try #require(fixture.opened.first)
    #expect(fixture.oauth.handleRedirect(try page.redirect("code=abc")))
    try await eventually { fixture.oauth.result.token != nil }
  }

  @MainActor final class Weak: Sendable {
    weak var object: SQOAuth?
    nonisolated init() {}
    func hold(_ object: SQOAuth) { self.object = object }
  }

  /// No cycle keeps the SDK's objects alive after a sign-in.
  @Test(arguments: ["code=abc", "error=access_denied"])
  func `an SQOAuth object without an owner is released`(query: String) async throws {
    let released = Weak()
    do {
      let fixture = try OAuthFixture(browser: DelegateOutcomeTests.answers(query)).register()
      await released.hold(fixture.oauth)
      _ = try? await fixture.oauth.signIn()
      _ = await fixture.delegate.events(1)
    }
    try await eventually { await released.object == nil }
  }

  @Test func `delegate methods are called on the queue that the app chose`() async throws {
    let key = DispatchSpecificKey<String>()
    let queue = DispatchQueue(label: "app")
    queue.setSpecific(key: key, value: "app")
    final class Asking: AuthorizationDelegate, Sendable {
      let key: DispatchSpecificKey<String>
      let places = Locked<[String?]>([])
      init(key: DispatchSpecificKey<String>) { self.key = key }
      func userIsSuccessfullyAuthorized(_ token: SQToken) { note() }
      func userIsNotAuthorized() { note() }
      private func note() {
        let place = DispatchQueue.getSpecific(key: key)
        places.withLock { $0.append(place) }
      }
    }
    let asking = Asking(key: key)
    let fixture = try OAuthFixture().register()
    fixture.oauth.authorizationDelegate = asking
    fixture.oauth.callbackQueue = queue
    #expect(fixture.oauth.callbackQueue === queue)
    for browser in ["yes", "no"] {
      if browser == "no" { fixture.http.answer(ScriptedTransport.json("{}")) }
      _ = try? await fixture.oauth.signIn()
    }
    try await eventually { asking.places.withLock(\.count) == 2 }
    #expect(asking.places.withLock(\.self) == ["app", "app"])
  }

  /// The callback of a sign-in may start the next one, or read properties, without a deadlock.
  @Test func `a delegate method may start the next sign-in`() async throws {
    final class Eager: AuthorizationDelegate, Sendable {
      let oauth: SQOAuth
      let tokens = Locked<[SQToken?]>([])
      init(_ oauth: SQOAuth) { self.oauth = oauth }
      func userIsSuccessfullyAuthorized(_ token: SQToken) {
        let count = tokens.withLock { tokens in
          tokens.append(oauth.result.token)
          return tokens.count
        }
        oauth.cancelSignIn()
        if count < 3 { oauth.authorizeUser() }
      }
      func userIsNotAuthorized() {}
    }
    let fixture = try OAuthFixture().register()
    let eager = Eager(fixture.oauth)
    fixture.oauth.authorizationDelegate = eager
    fixture.oauth.authorizeUser()
    try await eventually { eager.tokens.withLock(\.count) == 3 }
    #expect(eager.tokens.withLock(\.self).allSatisfy { $0?.accessToken == "T" })
  }

  @Test func `the delegate and the result have the same token`() async throws {
    let fixture = try OAuthFixture().register()
    #expect(fixture.oauth.result.token == nil)
    fixture.oauth.authorizeUser()
    _ = await fixture.delegate.events(1)
    #expect(fixture.delegate.tokens == [try #require(fixture.oauth.result.token)])
  }
}
