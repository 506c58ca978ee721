// A screen signs its user in by the browser, and its methods say how that ended.
//
//   Scripts/demo sandbox --port 8989                      in another terminal: a server to sign in at
//   swift run --package-path Demo/Examples delegates      sign in as alice, with alice-password
//
// ISSUER and CLIENT_ID, in the environment, name another server and the app's client there.

import Foundation
import SequencingOAuth

final class LoginScreen: AuthorizationDelegate {
  var token: SQToken?

  func show() {
    SQOAuth.shared.authorizationDelegate = self
    SQOAuth.shared.authorizeUser()
  }

  func userIsSuccessfullyAuthorized(_ token: SQToken) {
    self.token = token
    print("Signed in, for: \(token.scopes.joined(separator: ", "))")
    exit(0)
  }

  func userIsNotAuthorized(because error: SQOAuthError) {
    print("Not signed in: \(error)")
    exit(1)
  }

  // The user said no or did not come back, for example from an error page of the server.
  func userDidCancelAuthorization(because error: SQOAuthError) {
    print("Not signed in: \(error)")
    exit(3)
  }

  func userIsNotAuthorized() {
    print("Not signed in.")
    exit(3)
  }
}

let settings = ProcessInfo.processInfo.environment
SQOAuth.shared.registerApplicationParameters(
  clientID: settings["CLIENT_ID"] ?? "sandbox-app", redirectURI: "http://127.0.0.1/callback",
  scope: "profile", provider: .issuer(settings["ISSUER"] ?? "http://127.0.0.1:8989"))
let screen = LoginScreen()
screen.show()
dispatchMain()
