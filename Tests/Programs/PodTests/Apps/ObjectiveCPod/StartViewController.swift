// An app as it was written for the Objective-C pod.
// swift-format-ignore-file
import UIKit

class StartViewController: UIViewController, SQTokenRefreshProtocol {

    var token: SQToken!
    let tokenLabel = UILabel()
    let stateLabel = UILabel()

    override func viewDidLoad() {
        super.viewDidLoad()
        self.view.addSubview(tokenLabel)
        self.view.addSubview(stateLabel)

        SQOAuth.sharedInstance().refreshTokenDelegate = self
        SQOAuth.sharedInstance().launchTokenTimerUpdate(with: token)

        stateLabel.text = SQAuthResult.sharedInstance().token != nil ? "Signed in" : "Signed out"
        showToken()
    }

    func showToken() {
        guard let token = self.token else {
            tokenLabel.text = "No token"
            return
        }
        tokenLabel.text = "Bearer of \(token.scope ?? "")" + (token.refreshToken == nil ? "" : ", refreshable")
    }

    func refreshButtonPressed() {
        SQTokenUpdater.sharedInstance().cancelTimer()
        SQOAuth.sharedInstance().withRefreshToken(token, updateAccessToken: { (token) -> Void in
            DispatchQueue.main.async {
                if let token = token {
                    SQAuthResult.sharedInstance().token = token
                    self.token = SQAuthResult.sharedInstance().token
                    SQTokenUpdater.sharedInstance().startTimer()
                    self.stateLabel.text = "Refreshed"
                } else {
                    self.stateLabel.text = "Refresh failed"
                }
            }
        })
    }

    func logoutButtonPressed() {
        SQTokenUpdater.sharedInstance().cancelTimer()
        SQOAuth.sharedInstance().userDidSignOut()
        token = SQAuthResult.sharedInstance().token
        stateLabel.text = token == nil ? "Signed out" : "Still signed in"
    }

    // MARK: - SQTokenRefreshProtocol

    func tokenIsRefreshed(_ updatedToken: SQToken!) {
        DispatchQueue.main.async {
            self.token = updatedToken
            self.showToken()
        }
    }
}
