// An app as it was written for the Swift pod.
// swift-format-ignore-file
import UIKit
import sequencing_oauth_api_swift

class LoginViewController: UIViewController, SQAuthorizationProtocolDelegate {

    let CLIENT_ID: String       = "your CLIENT_ID here"
    let CLIENT_SECRET: String   = "your CLIENT_SECRET here"
    let REDIRECT_URI: String    = "authapp://Default/Authcallback"
    let SCOPE: String           = "demo"

    let MAIN_CONTROLLER_SEGUE_ID = "GOTO_MAIN_SCREEN"
    var messageLabel = UILabel()

    override func viewDidLoad() {
        super.viewDidLoad()

        SQOAuth.instance.registrateApplicationParametersClientID(self.CLIENT_ID, ClientSecret: self.CLIENT_SECRET, RedirectUri: self.REDIRECT_URI, Scope: self.SCOPE)
        SQOAuth.instance.authorizationDelegate = self
    }

    func loginButtonPressed() -> Void {
        SQOAuth.instance.authorizeUser()
    }

    func userIsSuccessfullyAuthorized(_ token: SQToken) -> Void {
        DispatchQueue.main.async { () -> Void in
            self.performSegue(withIdentifier: self.MAIN_CONTROLLER_SEGUE_ID, sender: nil)
        }
    }

    func userIsNotAuthorized() -> Void {
        DispatchQueue.main.async { () -> Void in
            self.messageLabel.text = "Not authorized"
        }
    }
}
