import SequencingOAuth

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Which screen the demo shows, and what leads to the next: a value, without a terminal or a server.
///
/// Success leads from the login screen to the main screen, with the token; a failure stays on the
/// login screen; signing out leads back to it, and so does the session's end, with the reason.
struct Coordinator: Sendable, Equatable {
  enum Screen: Sendable, Equatable {
    case login(notice: Notice?)
    case waiting(Waiting)
    case main(Main)
  }

  /// Why nobody is signed in, if it is not by the user's own will.
  enum Notice: Sendable, Equatable {
    case cancelled
    case failed(code: String, message: String)
    /// The server, or another program, ended the session.
    case ended(code: String, message: String)
  }

  /// A sign-in that is under way.
  struct Waiting: Sendable, Equatable {
    var player: Player
    /// The server's page, once the SDK has asked for it to be opened.
    var address: String?
    var showsAddress = false
    /// Why the page could not be opened.
    var problem: String?
    /// Whether reading the files has asked for it.
    var isForFiles = false
    /// The files, where they are read before the login screen is told of the token.
    var files: Files?
  }

  /// Who goes through the server's pages.
  enum Player: Sendable, Equatable {
    case browser
    case visitor
  }

  /// What the person did, or the SDK told.
  enum Event: Sendable, Equatable {
    case signIn(Player)
    case readFiles
    case filesAreRead(Files)
    case call
    case callHasEnded(Call)
    case pageIsReady(String)
    case browserIsUnavailable(String)
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

  /// What is to be done about it.
  enum Action: Sendable, Equatable {
    case signIn(Player)
    case playUser(address: String)
    case cancelSignIn
    case askWhoSignedIn(SQToken)
    case readFiles
    case call
    case refresh
    case endSessionAtServer
    case revoke
    case signOut
    case quit
  }

  /// Whether there is a gRPC server to call.
  var hasServerToCall = false
  private(set) var screen = Screen.login(notice: nil)

  /// Goes to the next screen; an event that the screen has no use for changes nothing.
  mutating func handle(_ event: Event) -> Action? {
    switch (event, screen) {
    case (.quit, _):
      return .quit
    case (.signIn(let player), .login):
      screen = .waiting(Waiting(player: player))
      return .signIn(player)
    case (.readFiles, .login):
      // Nobody is signed in: the pipe asks for access first.
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
      // The session ended before its files were asked for, and the pipe asks for access.
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
  fileprivate mutating func handle(_ event: Coordinator.Event) -> Coordinator.Action? {
    switch event {
    case .pageIsReady(let address):
      self.address = address
    case .browserIsUnavailable(let problem):
      self.problem = problem
      showsAddress = true
    case .showAddress:
      showsAddress = true
    case .filesAreRead(let files):
      self.files = files
    case .playUser:
      guard let address, player == .browser else { return nil }
      player = .visitor
      return .playUser(address: address)
    case .cancelSignIn:
      // The screen changes when the SDK tells how the sign-in ended: it may have succeeded.
      return .cancelSignIn
    default:
      break
    }
    return nil
  }
}
