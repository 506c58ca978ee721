import SequencingOAuth

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The app that the tour shows: the SDK, a client of the built-in sandbox, and two screens.
@MainActor
final class TourApp {
  /// What happened, in order.
  let events: AsyncStream<Coordinator.Event>
  let tell: @Sendable (Coordinator.Event) -> Void
  private let oauth: SQOAuth
  private let sandbox: EmbeddedSandbox
  private let browser: TourBrowser
  private let loginScreen: LoginScreen
  private let mainScreen: MainScreen

  init(
    _ sandbox: EmbeddedSandbox, browser: any UserAgent, server: RPCServer? = nil,
    oauth: SQOAuth = .shared
  ) {
    let (events, continuation) = AsyncStream.makeStream(of: Coordinator.Event.self)
    let tell: @Sendable (Coordinator.Event) -> Void = { continuation.yield($0) }
    self.events = events
    self.tell = tell
    self.oauth = oauth
    self.sandbox = sandbox
    self.browser = TourBrowser(browser, visitor: EmbeddedSandbox.visitor(), tell: tell)

    oauth.registerApplicationParameters(
      clientID: sandbox.clientID, redirectURI: SignInOptions.defaultRedirectURI,
      scope: sandbox.scope, provider: .issuer(sandbox.issuer))
    oauth.environment.userAgent = self.browser
    loginScreen = LoginScreen(oauth, tell: tell)
    mainScreen = MainScreen(
      oauth, drive: sandbox.drive, server: server,
      whoSignedIn: { await sandbox.user(of: $0) }, tell: tell)
  }

  /// The current token, which the screens may hear of a moment later.
  var token: SQToken? { oauth.result.token }

  /// Does what the coordinator has decided.
  func perform(_ action: Coordinator.Action) {
    switch action {
    case .signIn(let player):
      browser.use(player)
      loginScreen.signIn()
    case .playUser(let address): browser.play(address)
    case .cancelSignIn, .quit: loginScreen.cancel()
    case .askWhoSignedIn(let token): mainScreen.askWhoSignedIn(token)
    case .readFiles:
      browser.use(.browser)
      mainScreen.readFiles()
    case .call: mainScreen.call()
    case .refresh: mainScreen.refresh()
    case .endSessionAtServer: sandbox.endSessions()
    case .revoke: mainScreen.revoke()
    case .signOut: mainScreen.signOut()
    }
  }
}
