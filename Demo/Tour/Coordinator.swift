import SQFoundation
import SequencingOAuth

/// The current screen of the demo, and the rules for the next screen.
///
/// It is a plain value, which uses neither a terminal nor a server.
///
/// A successful sign-in leads from the login screen to the main screen with the token. A failed
/// sign-in stays on the login screen. Signing out leads back to the login screen. So does the end
/// of the session, with its reason.
struct Coordinator: Sendable, Equatable {
  enum Screen: Sendable, Equatable {
    case login(notice: Notice?)
    case waiting(Waiting)
    case main(Main)
  }

  /// The reason why no user is signed in, if the user did not sign out.
  enum Notice: Sendable, Equatable {
    case cancelled
    case failed(code: String, message: String)
    /// The server or another program ended the session.
    case ended(code: String, message: String)
  }

  /// A sign-in in progress.
  struct Waiting: Sendable, Equatable {
    var player: Player
    /// The address of the server's page, after the SDK has asked to open it.
    var address: String?
    var showsAddress = false
    /// The reason why no one is on the server's page yet, as a sentence.
    var problem: String?
    /// The message of a redirect that was rejected because it does not belong to the sign-in.
    var refusal: String?
    /// Whether the sign-in was started by a request for the files.
    var isForFiles = false
    /// The files, if they arrive before the login screen gets the token.
    var files: Files?
  }

  /// The party that signs in on the server's pages: the user in a browser, or the sandbox's
  /// simulated user.
  enum Player: Sendable, Equatable {
    case browser
    case visitor
  }

  /// An action of the user, or a notification of the SDK.
  enum Event: Sendable, Equatable {
    case signIn(Player)
    case readFiles
    case filesAreRead(Files)
    case call
    /// The user wants to see the server's answer to an invalid token.
    case callWithBadToken
    case callHasEnded(Call)
    case pageIsReady(String)
    case browserIsUnavailable(String)
    case visitorDidFail(String)
    case redirectIsRefused(String)
    case showAddress
    case playUser
    case cancelSignIn
    case userIsAuthorized(SQToken)
    case userIsNotAuthorized(Notice)
    case userIsKnown(String?)
    case refresh
    case refreshHasEnded
    case tokenIsRefreshed(SQToken, at: Date)
    case tokenRefreshDidFail(code: String, message: String, at: Date)
    case endSessionAtServer
    case revoke
    case revocationDidFail(code: String, message: String, at: Date)
    case sessionDidEnd(Notice?)
    case signOut
    case quit
  }

  /// The action that the app must take after an event.
  enum Action: Sendable, Equatable {
    case signIn(Player)
    case playUser(address: String)
    case cancelSignIn
    case askWhoSignedIn(SQToken)
    case readFiles
    case call
    case callWithBadToken
    case refresh
    case endSessionAtServer
    case revoke
    case signOut
    case quit
  }

  /// Whether there is a gRPC server to call.
  var hasServerToCall = false
  private(set) var screen = Screen.login(notice: nil)

  /// Changes the screen after an event, and returns the app's next action.
  ///
  /// An event without a meaning on the screen changes nothing.
  mutating func handle(_ event: Event) -> Action? {
    switch (event, screen) {
    case (.quit, _):
      return .quit
    case (.signIn(let player), .login):
      screen = .waiting(Waiting(player: player))
      return .signIn(player)
    case (.readFiles, .login):
      // No user is signed in, so the pipe first asks for access.
      screen = .waiting(Waiting(player: .browser, isForFiles: true))
      return .readFiles
    case (.userIsAuthorized(let token), .login):
      return signedIn(Main(token))
    case (.userIsAuthorized(let token), .waiting(let waiting)):
      let files = waiting.isForFiles ? waiting.files ?? .reading : .unread
      return signedIn(Main(token, files: files))
    case (.userIsNotAuthorized(let notice), .waiting):
      screen = .login(notice: notice)
    case (.pageIsReady(let address), .login):
      // The session ended before the request for the files, so the pipe asks for access.
      screen = .waiting(Waiting(player: .browser, address: address, isForFiles: true))
    case (.signOut, .main):
      screen = .login(notice: nil)
      return .signOut
    case (.sessionDidEnd(let notice), .main):
      screen = .login(notice: notice)
    case (_, .main(var main)):
      let action = main.handle(event)
      screen = .main(main)
      return action
    case (_, .waiting(var waiting)):
      let action = waiting.handle(event)
      screen = .waiting(waiting)
      return action
    default:
      break
    }
    return nil
  }

  private mutating func signedIn(_ main: Main) -> Action {
    var main = main
    if hasServerToCall { main.call = .notMade }
    screen = .main(main)
    return .askWhoSignedIn(main.token)
  }
}

extension Coordinator.Waiting {
  /// The sentences that the user must know about the sign-in so far.
  var remarks: [String] {
    [problem, refusal.map { "Note: \($0). The sign-in still waits." }].compactMap(\.self)
  }

  fileprivate mutating func handle(_ event: Coordinator.Event) -> Coordinator.Action? {
    switch event {
    case .pageIsReady(let address):
      self.address = address
    case .browserIsUnavailable(let reason):
      // After the semicolon, the message contains advice for an app's developer.
      problem = "No browser was opened: \(reason.firstClause)."
      showsAddress = true
    case .visitorDidFail(let reason):
      // The sign-in still waits: the user can open the page in a browser.
      player = .browser
      problem = "The simulated user did not sign in: \(reason.firstClause)."
      showsAddress = true
    case .redirectIsRefused(let refusal):
      self.refusal = refusal
    case .showAddress:
      showsAddress = true
    case .filesAreRead(let files):
      self.files = files
    case .playUser:
      guard let address, player == .browser else { return nil }
      player = .visitor
      // The simulated user needs neither a browser nor the address.
      problem = nil
      showsAddress = false
      return .playUser(address: address)
    case .cancelSignIn:
      // The screen changes when the SDK reports the result, because the sign-in may still succeed.
      return .cancelSignIn
    default:
      break
    }
    return nil
  }
}
