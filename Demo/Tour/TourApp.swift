import SQFoundation
import SequencingOAuth

/// The app that the tour shows: the SDK with a client at a server, and two screens.
@MainActor
final class TourApp {
  /// The events of the app, in order.
  let events: AsyncStream<Coordinator.Event>
  let tell: @Sendable (Coordinator.Event) -> Void
  private let oauth: SQOAuth
  private let place: TourPlace
  private let browser: TourBrowser
  private let loginScreen: LoginScreen
  private let mainScreen: MainScreen

  init(
    _ place: TourPlace, browser: any UserAgent, visitor: any UserAgent, server: RPCServer? = nil
  ) {
    let (events, continuation) = AsyncStream.makeStream(of: Coordinator.Event.self)
    let tell: @Sendable (Coordinator.Event) -> Void = { continuation.yield($0) }
    self.events = events
    self.tell = tell
    self.place = place
    oauth = place.oauth
    self.browser = TourBrowser(browser, visitor: visitor, tell: tell)

    oauth.environment.userAgent = self.browser
    loginScreen = LoginScreen(oauth, tell: tell)
    mainScreen = MainScreen(
      oauth, files: place.files, server: server,
      tell: tell)
  }

  /// The current token; the screens may get it a moment later.
  var token: SQToken? { oauth.result.token }

  /// Performs an action that the coordinator returned.
  func perform(_ action: Coordinator.Action) {
    switch action {
    case .signIn(let player):
      if let problem = place.signInProblem {
        return tell(.userIsNotAuthorized(.failed(code: problem.code, message: problem.message)))
      }
      browser.use(player)
      loginScreen.signIn()
    case .playUser(let address): browser.play(address)
    case .cancelSignIn, .quit: loginScreen.cancel()
    case .askWhoSignedIn: mainScreen.askWhoSignedIn()
    case .readFiles:
      readFiles()
    case .call: mainScreen.call()
    case .callWithBadToken: mainScreen.callWithBadToken()
    case .refresh: mainScreen.refresh()
    case .endSessionAtServer: place.sandbox?.endSessions()
    case .revoke: mainScreen.revoke()
    case .signOut: mainScreen.signOut()
    }
  }

  private func readFiles() {
    let isSignedIn = oauth.result.token != nil
    if place.files == nil {
      fail(TourPlace.noFiles, isSignedIn: isSignedIn)
    } else if !isSignedIn, let problem = place.signInProblem {
      fail(problem, isSignedIn: false)
    } else {
      browser.use(.browser)
      mainScreen.readFiles()
    }
  }

  /// Shows on the current screen why the files cannot be read.
  private func fail(_ failure: Failure, isSignedIn: Bool) {
    let (code, message) = (failure.code, failure.message)
    tell(
      isSignedIn
        ? .filesAreRead(.failed(code: code, message: message))
        : .userIsNotAuthorized(.failed(code: code, message: message)))
  }
}
