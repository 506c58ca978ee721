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
    func userIsSuccessfullyAuthorized(_ token: SQToken) { add("authorized") }
    func userIsNotAuthorized() { add("not authorized") }
    func tokenIsRefreshed(_ token: SQToken) { add(token.accessToken) }

    private func add(_ call: String) { calls.withLock { $0.append(call) } }
  }

  /// A delegate that implements all methods, and passes each call on to a delegate without optional
  /// methods.
  private final class Forwarding: AuthorizationDelegate, TokenRefreshDelegate, Sendable {
    let other = Plain()
    let calls = Locked<[String]>([])

    func userIsSuccessfullyAuthorized(_ token: SQToken) {
      other.userIsSuccessfullyAuthorized(token)
      add("authorized")
    }
    func userIsNotAuthorized() {
      add("not authorized")
      other.userIsNotAuthorized()
    }
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
    func tokenIsRefreshed(_ token: SQToken) {
      other.tokenIsRefreshed(token)
      add("refreshed \(token.accessToken)")
    }
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

  @Test func `a delegate and the one that it passes its calls on to hear of each sign-in once`()
    async throws
  {
    let delegate = Forwarding()
    #expect(
      try await signInThrice(delegate, { delegate.calls.withLock(\.self) }) == [
        "because server_error", "cancelled because access_denied", "authorized",
      ])
    #expect(
      delegate.other.calls.withLock(\.self) == [
        "not authorized", "not authorized", "authorized",
      ])
  }

  @Test func `a delegate's call of its own unimplemented method reaches the method instead`()
    async throws
  {
    let delegate = Joining()
    // The delegate implements neither method for a cancelled sign-in.
    #expect(
      try await signInThrice(delegate, { delegate.calls.withLock(\.self) }) == [
        "because server_error", "not authorized", "not authorized", "authorized",
      ])
  }

  /// A delegate whose required method calls a method that it does not implement.
  private final class Circular: AuthorizationDelegate, Sendable {
    let calls = Locked<[String]>([])
    func userIsSuccessfullyAuthorized(_ token: SQToken) { add("authorized") }
    func userIsNotAuthorized() {
      add("not authorized")
      userDidCancelAuthorization()
    }

    private func add(_ call: String) { calls.withLock { $0.append(call) } }
  }

  @Test func `a delegate whose methods call each other is called once more at most`() async throws {
    let delegate = Circular()
    #expect(
      try await signInThrice(delegate, { delegate.calls.withLock(\.self) }) == [
        "not authorized", "not authorized", "not authorized", "authorized",
      ])
  }

  @Test func `a delegate and the one that it passes its calls on to hear of each token once`()
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
    #expect(delegate.other.calls.withLock(\.self) == ["T1", "T2", "T3"])
    // The other delegate hears the same from the SDK itself.
    tell(delegate.other)
    try await eventually { delegate.other.calls.withLock { $0.count == 6 } }
    #expect(delegate.other.calls.withLock { $0.suffix(3) } == ["T1", "T2", "T3"])
  }
}
