import Foundation
import ProgramSupport
import SequencingOAuth
import TestSupport

extension Browser {
  /// Starts a sign-in as an app does.
  ///
  /// The sign-in's pages open in this browser.
  func startSignIn(
    telling screen: Screen, _ configuration: ClientConfiguration
  ) -> SQOAuth {
    var environment = ClientEnvironment()
    // With a manual clock, the landing page waits for the token as long as the server takes.
    environment.clock = ManualClock(now: Date())
    environment.userAgent = CustomUserAgent { try await self.go(to: $0.absoluteString) }
    let oauth = SQOAuth(environment: environment)
    oauth.register(configuration)
    oauth.authorizationDelegate = screen
    oauth.authorizeUser()
    return oauth
  }
}
