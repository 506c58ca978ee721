import SQFoundation
import SequencingOAuth
import SequencingOAuthGRPC
import SequencingOAuthPipes

/// The main screen: asks for the user's name and files and makes a gRPC call with the token.
///
/// It also refreshes and revokes the token, signs out, and is the delegate that is notified of each
/// refresh and of the session's end.
@MainActor
final class MainScreen: TokenRefreshDelegate {
  private let oauth: SQOAuth
  private let files: Pipeline.Pipe?
  private let server: RPCServer?
  private let tell: @Sendable (Coordinator.Event) -> Void

  init(
    _ oauth: SQOAuth, files: Pipeline.Pipe?, server: RPCServer?,
    tell: @escaping @Sendable (Coordinator.Event) -> Void
  ) {
    self.oauth = oauth
    self.files = files
    self.server = server
    self.tell = tell
    oauth.tokenRefreshDelegate = self
  }

  /// Finds the user's name in the ID token, at the provider or in the account's attributes.
  func askWhoSignedIn() {
    Task {
      let user = await SignedInUser.find(oauth)
      tell(.userIsKnown(user?.shownName ?? oauth.module.attributes["name"]))
    }
  }

  /// Reads the files; the pipe signs the user in first if necessary.
  func readFiles() {
    files?.pages(DriveFile.Page.self).first { result in
      switch result {
      case .success(let page):
        self.tell(.filesAreRead(.read(page.value.items, isAll: page.nextURL == nil)))
      case .failure(let error):
        let failure = Failure(error)
        self.tell(.filesAreRead(.failed(code: failure.code, message: failure.advised)))
      }
    }
  }

  /// Calls the gRPC server with the user's token.
  func call() {
    call(with: .account(oauth.module))
  }

  /// Calls the gRPC server with an invalid token, to show the server's challenge.
  ///
  /// A call with the account's token shows no challenge. If the server rejects that token, the SDK
  /// refreshes it. If the session has ended, the login screen appears.
  func callWithBadToken() {
    call(with: .accessToken("a-bad-token"))
  }

  private func call(with credential: RPCCredential) {
    server?.ask(with: credential) { result in
      switch result {
      case .success(let answer):
        self.tell(.callHasEnded(.done(answer.sentence)))
      case .failure(let error):
        let lines = [error.advised, error.challenge].compactMap(\.self)
        self.tell(.callHasEnded(.failed(message: lines.joined(separator: "\n"))))
      }
    }
  }

  /// Refreshes the token even if it is still valid.
  func refresh() {
    oauth.refresh { result in
      // Shortly after a failure, the SDK returns the same error without a request and without
      // calling the delegate.
      if case .failure(let error) = result, self.oauth.currentToken != nil {
        self.tokenRefreshDidFail(error)
      }
      self.tell(.refreshHasEnded)
    }
  }

  /// Makes the server revoke the tokens; the delegate is then notified of the session's end.
  func revoke() {
    oauth.revoke { result in
      guard case .failure(let error) = result else { return }
      self.tell(
        .revocationDidFail(code: error.code.rawValue, message: Failure(error).advised, at: Date()))
    }
  }

  func signOut() {
    oauth.userDidSignOut()
  }

  // MARK: TokenRefreshDelegate

  func tokenIsRefreshed(_ token: SQToken) {
    tell(.tokenIsRefreshed(token, at: Date()))
  }

  func tokenRefreshDidFail(_ error: SQOAuthError) {
    tell(
      .tokenRefreshDidFail(code: error.code.rawValue, message: Failure(error).advised, at: Date()))
  }

  func sessionDidEnd(_ reason: SessionEnd) {
    switch reason {
    case .signedOut: tell(.sessionDidEnd(nil))
    case .revoked: tell(.sessionDidEnd(.ended(code: "revoked", message: "the tokens were revoked")))
    case .loggedOut:
      tell(.sessionDidEnd(.ended(code: "logged_out", message: "the user logged out elsewhere")))
    case .refused(let error):
      tell(.sessionDidEnd(.ended(code: error.code.rawValue, message: Failure(error).advised)))
    }
  }
}
