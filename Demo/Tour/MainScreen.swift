import SequencingOAuth

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The main screen: it shows whose token it is, hears what becomes of it, refreshes it and signs out.
final class MainScreen: TokenRefreshDelegate {
  private let oauth: SQOAuth
  private let whoSignedIn: @Sendable (SQToken) async -> String?
  private let tell: @Sendable (Coordinator.Event) -> Void

  init(
    _ oauth: SQOAuth, whoSignedIn: @escaping @Sendable (SQToken) async -> String?,
    tell: @escaping @Sendable (Coordinator.Event) -> Void
  ) {
    self.oauth = oauth
    self.whoSignedIn = whoSignedIn
    self.tell = tell
    oauth.tokenRefreshDelegate = self
  }

  /// Asks the resource server, with the token, whose it is.
  func askWhoSignedIn(_ token: SQToken) {
    Task { tell(.userIsKnown(await whoSignedIn(token))) }
  }

  /// Refreshes the token although it may be valid.
  func refresh() {
    Task {
      do throws(SQOAuthError) {
        try await oauth.module.refresh()
      } catch {
        // Within the time in which a failure stands nothing is sent, and no delegate is told.
        if oauth.result.token != nil { tokenRefreshDidFail(error) }
      }
      tell(.refreshHasEnded)
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
      .tokenRefreshDidFail(code: error.code.rawValue, message: error.message, at: Date()))
  }

  func sessionDidEnd(_ reason: SessionEnd) {
    switch reason {
    case .signedOut: tell(.sessionDidEnd(nil))
    case .revoked: tell(.sessionDidEnd(.ended(code: "revoked", message: "the tokens were revoked")))
    case .refused(let error):
      tell(.sessionDidEnd(.ended(code: error.code.rawValue, message: error.message)))
    }
  }
}
