import Foundation
import OAuthSandbox
import SQBasics
import SequencingOAuth
import Testing

@testable import LoopbackSupport
@testable import TestSupport

/// Operations with a completion handler, on an `SQOAuth` and on its module.
@Suite("End to end: completions", .timeLimit(.minutes(1))) struct CompletionTests {
  /// The operations of an `SQOAuth` or of its module, so that one test covers both types.
  private struct Acts {
    typealias Done<Value> = @isolated(any) (Result<Value, SQOAuthError>) -> Void

    let signIn: (@escaping Done<SQToken>) -> Void
    let requestAccess: (@escaping Done<SQToken>) -> Void
    let token: (@escaping Done<SQToken>) -> Void
    let refresh: (@escaping Done<SQToken>) -> Void
    let restore: (@escaping Done<Bool>) -> Void
    let password: (String, String, @escaping Done<SQToken>) -> Void
    let asClient: (@escaping Done<SQToken>) -> Void
    let grant: (String, @escaping Done<SQToken>) -> Void
    let authenticate: (WebRequest, @escaping Done<WebRequest>) -> Void
    let send: (WebRequest, @escaping Done<WebResponse>) -> Void
    let adopt: (SQToken, @escaping Done<SQToken>) -> Void
    let signOut: (@escaping Done<Void>) -> Void
    let clear: (@escaping Done<Void>) -> Void
    let revoke: (@escaping Done<Void>) -> Void
    let flush: (@escaping Done<Void>) -> Void

    init(_ oauth: SQOAuth) {
      signIn = { oauth.signIn($0) }
      requestAccess = { oauth.requestAccess($0) }
      token = { oauth.token($0) }
      refresh = { oauth.refresh($0) }
      restore = { oauth.restore($0) }
      password = { oauth.requestAccessToken(username: $0, password: $1, completion: $2) }
      asClient = { oauth.requestAccessTokenAsClient(completion: $0) }
      grant = { oauth.requestAccessToken(grantType: $0, completion: $1) }
      authenticate = { oauth.authenticate($0, completion: $1) }
      send = { oauth.send($0, completion: $1) }
      adopt = { oauth.adopt($0, completion: $1) }
      signOut = { oauth.signOut($0) }
      clear = { oauth.module.clearAccessToken($0) }
      revoke = { oauth.revoke($0) }
      flush = { oauth.flush($0) }
    }

    init(_ module: AuthorizationModule) {
      signIn = { module.signIn($0) }
      requestAccess = { module.requestAccess($0) }
      token = { module.token($0) }
      refresh = { module.refresh($0) }
      restore = { module.restore($0) }
      password = { module.requestAccessToken(username: $0, password: $1, completion: $2) }
      asClient = { module.requestAccessTokenAsClient(completion: $0) }
      grant = { module.requestAccessToken(grantType: $0, completion: $1) }
      authenticate = { module.authenticate($0, completion: $1) }
      send = { module.send($0, completion: $1) }
      adopt = { module.adopt($0, completion: $1) }
      signOut = { module.signOut($0) }
      clear = { module.clearAccessToken($0) }
      revoke = { module.revoke($0) }
      flush = { module.flush($0) }
    }
  }

  /// Returns the result that an operation passes to its completion.
  ///
  /// If the operation called its completion a second time, the test would crash.
  private func result<Value: Sendable>(
    _ act: (@escaping Acts.Done<Value>) -> Void
  ) async -> Result<Value, SQOAuthError> {
    await withCheckedContinuation { done in act { done.resume(returning: $0) } }
  }

  private func acts(_ oauth: SQOAuth, isModule: Bool) -> Acts {
    isModule ? Acts(oauth.module) : Acts(oauth)
  }

  @Test(arguments: [false, true])
  func `the operations give their completions the results of their async forms`(isModule: Bool)
    async throws
  {
    let fixture = try await SandboxFixture().register(change: { $0.allowsPasswordGrant = true })
    let acts = acts(fixture.oauth, isModule: isModule)
    let first = try await result(acts.signIn).get()
    #expect(try await result(acts.token).get() == first)
    #expect(try await result(acts.requestAccess).get() == first)
    #expect(try await result(acts.restore).get())
    let second = try await result(acts.refresh).get()
    #expect(second != first && fixture.oauth.currentToken == second)
    let request = WebRequest(url: fixture.sandbox.url(.me))
    let authenticated = try await result { acts.authenticate(request, $0) }.get()
    #expect(authenticated.headers["Authorization"] == "Bearer \(second.accessToken)")
    #expect(try await result { acts.send(request, $0) }.get().status == 200)
    try await result(acts.flush).get()
    try await result(acts.revoke).get()
    #expect(!fixture.sandbox.isActive(second.accessToken) && fixture.oauth.currentToken == nil)
    let user = SandboxUser.alice
    let third = try await result { acts.password(user.name, user.password, $0) }.get()
    #expect(fixture.oauth.currentToken == third)
    try await result(acts.signOut).get()
    #expect(fixture.oauth.currentToken == nil && fixture.sandbox.isActive(third.accessToken))
    #expect(try await result { acts.adopt(third, $0) }.get() == third)
    #expect(fixture.oauth.currentToken == third)
    try await result(acts.clear).get()
    #expect(fixture.oauth.currentToken == nil)
  }

  @Test(arguments: [false, true])
  func `the operations give their completions the errors of their async forms`(
    isModule: Bool
  ) async throws {
    let fixture = try await SandboxFixture().register(clientID: "nobody")
    let acts = acts(fixture.oauth, isModule: isModule)
    let request = WebRequest(url: fixture.sandbox.url(.me))
    for act in [acts.token, acts.refresh] {
      #expect(await result(act).error?.code == .notAuthorized)
    }
    #expect(await result { acts.authenticate(request, $0) }.error?.code == .notAuthorized)
    #expect(await result { acts.send(request, $0) }.error?.code == .notAuthorized)
    #expect(await result { acts.password("a", "b", $0) }.error?.code == .invalidConfiguration)
    #expect(await result(acts.asClient).error?.code == .invalidConfiguration)
    #expect(await result { acts.grant("urn:example", $0) }.error?.code == .invalidClient)
    #expect(try await !result(acts.restore).get())
  }

  @Test(arguments: [false, true])
  func `an adopted token is the current token before the completion is called`(isModule: Bool)
    async throws
  {
    let fixture = try await SandboxFixture().register()
    let acts = acts(fixture.oauth, isModule: isModule)
    let tokens = fixture.sandbox.issueTokens(for: "alice")
    let held = SQToken(accessToken: tokens.accessToken, refreshToken: tokens.refreshToken)
    // A suspended queue calls no completion.
    let queue = DispatchQueue(label: "busy")
    fixture.oauth.callbackQueue = queue
    queue.suspend()
    let isCalled = OneShot<Result<SQToken, SQOAuthError>>()
    acts.adopt(held) { isCalled.resolve($0) }
    #expect(fixture.oauth.currentToken == held)
    queue.resume()
    #expect(try await isCalled.value()?.get() == held)
  }

  @Test(arguments: [false, true])
  func `without a registered client no token is adopted, and the completion gets the error`(
    isModule: Bool
  ) async throws {
    let oauth = SQOAuth()
    oauth.callbackQueue = DispatchQueue(label: "callbacks")
    let acts = acts(oauth, isModule: isModule)
    let token = SQToken(accessToken: "T", refreshToken: "R")
    #expect(await result { acts.adopt(token, $0) }.error?.code == .notRegistered)
    #expect(
      await result { oauth.refresh(with: token, completion: $0) }.error?.code == .notRegistered)
    #expect(oauth.currentToken == nil)
  }

  @Test func `a token that the app passes is refreshed, and the completion gets the new token`()
    async throws
  {
    let fixture = try await SandboxFixture().register()
    let tokens = fixture.sandbox.issueTokens(for: "alice")
    let kept = SQToken(accessToken: tokens.accessToken, refreshToken: tokens.refreshToken)
    let fresh = try await result { fixture.oauth.refresh(with: kept, completion: $0) }.get()
    #expect(fresh != kept && fixture.oauth.currentToken == fresh)
    #expect(fixture.sandbox.isActive(fresh.accessToken))
  }

  @Test func `a main-actor completion is called on the main actor, whatever the callback queue is`()
    async throws
  {
    let fixture = try await SandboxFixture().register()
    fixture.oauth.callbackQueue = DispatchQueue(label: "elsewhere")
    let screen = await Screen(fixture.oauth)
    await screen.signIn()
    try await eventually { await screen.token != nil }
  }

  @MainActor private final class Screen {
    private let oauth: SQOAuth
    var token: SQToken?

    init(_ oauth: SQOAuth) { self.oauth = oauth }

    func signIn() {
      oauth.signIn { result in
        MainActor.assertIsolated()
        self.token = try? result.get()
      }
    }
  }
}
