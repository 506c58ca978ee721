// An app as it was written for the Swift pod.
// swift-format-ignore-file
import UIKit
import sequencing_oauth_api_swift

class StartViewController: UIViewController, SQTokenRefreshProtocolDelegate {

    var token: SQToken = SQToken()
    var tokenLabel = UILabel()
    var stateLabel = UILabel()

    override func viewDidLoad() {
        super.viewDidLoad()

        SQOAuth.instance.refreshTokenDelegate = self
        self.token = SQAuthResult.instance.token
        SQOAuth.instance.launchTokenTimerUpdateWithToken(self.token)

        stateLabel.text = SQAuthResult.instance.token.accessToken != "" ? "Signed in" : "Signed out"
        self.showToken()
    }

    func showToken() -> Void {
        tokenLabel.text = self.token.tokenType + (self.token.refreshToken == "" ? "" : ", refreshable")
    }

    func refreshButtonPressed() -> Void {
        SQTokenUpdater.instance.cancelTimer()
        SQOAuth.instance.updateAccessTokenWithRefreshToken(self.token) { (token) -> Void in
            DispatchQueue.main.async { () -> Void in
                if let token = token {
                    SQAuthResult.instance.token = token
                    self.token = SQAuthResult.instance.token
                    SQTokenUpdater.instance.startTimer()
                    self.stateLabel.text = "Refreshed"
                } else {
                    self.stateLabel.text = "Refresh failed"
                }
            }
        }
    }

    func logoutButtonPressed() -> Void {
        SQTokenUpdater.instance.cancelTimer()
        SQOAuth.instance.userDidSignOut()
        self.token = SQAuthResult.instance.token
        stateLabel.text = self.token.accessToken == "" ? "Signed out" : "Still signed in"
    }

    func tokenIsRefreshed(_ updatedToken: SQToken) -> Void {
        DispatchQueue.main.async { () -> Void in
            self.token = updatedToken
            self.showToken()
        }
    }
}
