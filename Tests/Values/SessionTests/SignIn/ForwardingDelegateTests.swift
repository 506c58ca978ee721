import Dispatch
import SQBasics
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// Delegates that pass the SDK's calls on to another delegate or to another method.
@Suite(.timeLimit(.minutes(1))) struct ForwardingDelegateTests {
  /// A delegate without optional methods.
  private final class Plain: AuthorizationDelegate, TokenRefreshDelegate, Sendable {
    let calls = Locked<[String]>([])
    func userIsSuccessfullyAuthorized(_ token: SQToken) {}
    func userIsNotAuthorized() {}
    func tokenIsRefreshed(_ token: SQToken) { calls.withLock { $0.append(token.accessToken) } }
  }

  /// A delegate that records each call and passes it on to a delegate without optional methods.
  private final class Forwarding: AuthorizationDelegate, TokenRefreshDelegate, Sendable {
    let other = Plain()
    let calls = Locked<[String]>([])

    func userIsSuccessfullyAuthorized(_ token: SQToken) { add("authorized") }
    func userIsNotAuthorized() { add("not authorized") }
    func userIsNotAuthorized(because error: SQOAuthError) {
      add("because \(error.code)")
      other.userIsNotAuthorized(because: error)
    }
    func userDidCancelAuthorization() {
      add("cancelled")
      other.userDidCancelAuthorization()
    }
    func userDidCancelAuthorization(because error: SQOAuthError) {
      add("cancelled because \(error.code)")
      other.userDidCancelAuthorization(because: error)
    }
    func tokenIsRefreshed(_ token: SQToken) { add("refreshed \(token.accessToken)") }
    func tokenIsTakenOver(_ token: SQToken) {
      add("taken over \(token.accessToken)")
      other.tokenIsTakenOver(token)
    }
    func sessionIsReplaced(_ token: SQToken) {
      add("replaced \(token.accessToken)")
      other.sessionIsReplaced(token)
    }

    private func add(_ call: String) { calls.withLock { $0.append(call) } }
  }

  /// A delegate whose method for a failure calls a method that the delegate does not implement.
  private final class Joining: AuthorizationDelegate, Sendable {
    let calls = Locked<[String]>([])
    func userIsSuccessfullyAuthorized(_ token: SQToken) { add("authorized") }
    func userIsNotAuthorized() { add("not authorized") }
    func userIsNotAuthorized(because error: SQOAuthError) {
      add("because \(error.code)")
      userDidCancelAuthorization(because: error)
    }

    private func add(_ call: String) { calls.withLock { $0.append(call) } }
  }

  /// Signs in at a server that refuses, at a user who refuses, and successfully.
  ///
  /// Returns the delegate's calls. They come in order, so none follows that of the last sign-in.
  private func signInThrice(
    _ delegate: any AuthorizationDelegate, _ calls: () -> [String]
  ) async throws -> [String] {
    let ends = Locked(["error=server_error", "error=access_denied", "code=abc"])
    let fixture = try OAuthFixture(browser: { fixture, page in
      fixture.oauth.handleRedirect(try page.redirect(ends.withLock { $0.removeFirst() }))
    }).register()
    fixture.oauth.callbackQueue = DispatchQueue(label: "callbacks")
    fixture.oauth.authorizationDelegate = delegate
    await failure(.serverError) { try await fixture.oauth.signIn() }
    await failure(.accessDenied) { try await fixture.oauth.signIn() }
    try await fixture.oauth.signIn()
    try await eventually { calls().last == "authorized" }
    return calls()
  }

  @Test func `a delegate that passes its calls on to another one hears of each sign-in once`()
    async throws
  {
    let delegate = Forwarding()
    #expect(
      try await signInThrice(delegate, { delegate.calls.withLock(\.self) }) == [
        "because server_error", "cancelled because access_denied", "authorized",
      ])
  }

  @Test func `a delegate's call of its own unimplemented method causes no second call`()
    async throws
  {
    let delegate = Joining()
    // The delegate implements neither method for a cancelled sign-in.
    #expect(
      try await signInThrice(delegate, { delegate.calls.withLock(\.self) }) == [
        "because server_error", "not authorized", "authorized",
      ])
  }

  @Test func `a delegate that passes its calls on to another one hears of each token once`()
    async throws
  {
    let (delegate, fixture) = (Forwarding(), try OAuthFixture().register())
    fixture.oauth.callbackQueue = DispatchQueue(label: "callbacks")
    func tell(_ delegate: any TokenRefreshDelegate) {
      fixture.oauth.tokenRefreshDelegate = delegate
      fixture.oauth.tell(.takenOver(SQToken(accessToken: "T1")))
      fixture.oauth.tell(.replaced(SQToken(accessToken: "T2")))
      fixture.oauth.tell(.refreshed(SQToken(accessToken: "T3")))
    }
    tell(delegate)
    try await eventually { delegate.calls.withLock { $0.last == "refreshed T3" } }
    #expect(delegate.calls.withLock(\.self) == ["taken over T1", "replaced T2", "refreshed T3"])
    #expect(delegate.other.calls.withLock(\.self) == [])
    // The other delegate's own calls go to the method that it implements.
    tell(delegate.other)
    try await eventually { delegate.other.calls.withLock { $0.last == "T3" } }
    #expect(delegate.other.calls.withLock(\.self) == ["T1", "T2", "T3"])
  }
}
