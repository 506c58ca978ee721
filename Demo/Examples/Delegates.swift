// A screen that signs its user in with the browser and gets the result in its delegate methods.
//
//   Scripts/demo sandbox --port 8989                      in another terminal: a server to sign in at
//   swift run --package-path Demo/Examples delegates      sign in as alice, with alice-password
//
// The environment variables ISSUER and CLIENT_ID name another server and the app's client there.

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

  // The user denied the access or did not come back, for example from the server's error page.
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
