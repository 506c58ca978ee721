// Acts as the system, and as a user who presses one button after another.
import OAuthSandbox
import SequencingOAuth
import UIKit

var options = SandboxOptions()
options.clients = [
  SandboxClient(
    id: "your CLIENT_ID here", secret: "your CLIENT_SECRET here",
    redirectURIs: ["authapp://Default/Authcallback"])
]
let internet = Internet(sandbox: try await SandboxServer.start(options))
SQOAuth.shared.environment.transport = internet
SQOAuth.shared.environment.userAgent = internet
storyboard["GOTO_MAIN_SCREEN"] = { StartViewController() }
let login = LoginViewController()
login.show()
login.loginButtonPressed()
var texts: [String] = []
for await text in shownTexts.stream {
  print(text)
  texts.append(text)
  let start = currentScreen as? StartViewController
  switch text {
  case "Signed in": start?.refreshButtonPressed()
  case "Signed out": exit(0)
  case "Not authorized", "Refresh failed", "Still signed in": exit(1)
  default:
    // The button's completion and the delegate's method are called in any order.
    if texts.count == 4, texts.contains("Refreshed") { start?.logoutButtonPressed() }
  }
}
