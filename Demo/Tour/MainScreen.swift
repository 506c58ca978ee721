import SequencingOAuth

/// The main screen: it shows whose token it is, and signs out.
final class MainScreen: Sendable {
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
  }

  /// Asks the resource server, with the token, whose it is.
  func askWhoSignedIn(_ token: SQToken) {
    Task { tell(.userIsKnown(await whoSignedIn(token))) }
  }

  func signOut() {
    oauth.userDidSignOut()
  }
}
