import SQBasics
import SequencingOAuth
import Testing

@testable import TestSupport

/// An app that moves between a login and a main screen only by its delegates' methods.
@Suite(.timeLimit(.minutes(1))) struct NavigationTests {
  /// A coordinator that records the screens that the user has seen, in order.
  final class Coordinator: AuthorizationDelegate, TokenRefreshDelegate, Sendable {
    private let state = Locked(["login"])
    var screens: [String] { state.withLock(\.self) }
    private func show(_ screen: String) { state.withLock { $0.append(screen) } }
    func userIsSuccessfullyAuthorized(_ token: SQToken) { show("main(\(token.scope ?? ""))") }
    func userIsNotAuthorized() { show("login") }
    func userDidCancelAuthorization() { show("login: cancelled") }
    func tokenIsRefreshed(_ token: SQToken) { show("main again") }
    func sessionDidEnd(_ reason: SessionEnd) {
      if case .signedOut = reason { show("login: signed out") }
    }
  }

  @Test
  func `an app shows the main screen after a sign-in, and login after a failure or a sign-out`()
    async throws
  {
    let coordinator = Coordinator()
    let fixture = try OAuthFixture(browser: DelegateOutcomeTests.answers("error=access_denied"))
      .register()
    fixture.oauth.authorizationDelegate = coordinator
    fixture.oauth.tokenRefreshDelegate = coordinator
    fixture.oauth.authorizeUser()
    try await eventually { coordinator.screens.count == 2 }

    fixture.http.answer(ScriptedTransport.json("{", status: 500))
    fixture.oauth.environment.userAgent = CustomUserAgent { url in
      fixture.oauth.handleRedirect(try AuthorizationURL(url).redirect("code=abc"))
    }
    fixture.oauth.authorizeUser()
    try await eventually { coordinator.screens.count == 3 }

    fixture.http.answer(ScriptedTransport.token())
    fixture.oauth.authorizeUser()
    try await eventually { coordinator.screens.count == 4 }
    #expect(fixture.oauth.result.token != nil)

    try await fixture.oauth.signOut()
    try await eventually { coordinator.screens.count == 5 }
    #expect(fixture.oauth.result.token == nil)
    #expect(
      coordinator.screens
        == ["login", "login: cancelled", "login", "main(demo)", "login: signed out"])
  }
}
