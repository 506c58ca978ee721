// An app as it was written for the Objective-C pod.
// swift-format-ignore-file
import UIKit

class LoginViewController: UIViewController, SQAuthorizationProtocol {

    let CLIENT_ID = "your CLIENT_ID here"
    let CLIENT_SECRET = "your CLIENT_SECRET here"
    let REDIRECT_URI = "authapp://Default/Authcallback"
    let SCOPE = "demo"
    let GOTO_MAIN_SCREEN_SEGUE_ID = "GOTO_MAIN_SCREEN"

    let messageLabel = UILabel()

    override func viewDidLoad() {
        super.viewDidLoad()
        self.title = "Login"

        SQOAuth.sharedInstance().registrateApplicationParametersCliendID(CLIENT_ID,
                                                                         clientSecret: CLIENT_SECRET,
                                                                         redirectUri: REDIRECT_URI,
                                                                         scope: SCOPE)
        SQOAuth.sharedInstance().authorizationDelegate = self

        let loginButton = UIButton(type: .custom)
        loginButton.setImage(UIImage(named: "button_signin_black"), for: .normal)
        loginButton.sizeToFit()
        self.view.addSubview(loginButton)
        self.view.addSubview(messageLabel)
    }

    func loginButtonPressed() {
        SQOAuth.sharedInstance().authorizeUser()
    }

    // MARK: - SQAuthorizationProtocol

    func userIsSuccessfullyAuthorized(_ token: SQToken!) {
        DispatchQueue.main.async {
            self.performSegue(withIdentifier: self.GOTO_MAIN_SCREEN_SEGUE_ID, sender: token)
        }
    }

    func userIsNotAuthorized() {
        DispatchQueue.main.async {
            self.messageLabel.text = "Not authorized"
        }
    }

    func userDidCancelAuthorization() {
        DispatchQueue.main.async {
            self.messageLabel.text = "Cancelled"
        }
    }

    // MARK: - Navigation

    override func prepare(for segue: UIStoryboardSegue, sender: Any?) {
        if segue.identifier == GOTO_MAIN_SCREEN_SEGUE_ID {
            let startVC = segue.destination as! StartViewController
            startVC.token = sender as? SQToken
        }
    }
}
