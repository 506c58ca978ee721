import SQFoundation
import SequencingOAuth

/// The tour without a terminal: prints lines and reads no input.
///
/// It signs in, shows the files, and makes the gRPC call if it has a server. At the sandbox, it
/// then refreshes the token and signs out. An account from a store stays signed in.
@MainActor
struct TourInLines {
  let app: TourApp
  let server: TourServer
  let player: Coordinator.Player
  var hasServerToCall = false
  var start = TourStart.login

  func run(_ console: Console) async throws(Failure) {
    var coordinator = Coordinator(hasServerToCall: hasServerToCall)
    if let token = start.token {
      app.tell(.userIsAuthorized(token))
    } else {
      try console.result("Please sign in.")
      app.tell(.signIn(player))
    }
    // The token before the tour's own refresh; a rejected call may have caused an earlier refresh.
    var replaced: SQToken?
    for await event in app.events {
      if let action = coordinator.handle(event) { app.perform(action) }
      if try report(event, coordinator.screen, console, &replaced) { return }
    }
  }

  /// Prints what happened and starts the next step, and returns `true` at the end of the tour.
  private func report(
    _ event: Coordinator.Event, _ screen: Coordinator.Screen, _ console: Console,
    _ replaced: inout SQToken?
  ) throws(Failure) -> Bool {
    switch (event, screen) {
    case (.signIn, _):
      let name = server.user.map { " as \($0.name)" } ?? ""
      let place = server.name.onScreen
      let limit = server.limit.map { " within \($0.components.seconds) s" } ?? ""
      try console.result(
        player == .visitor
          ? "The sandbox's simulated user signs in\(name) at \(place)."
          : "Your browser opens \(place); sign in there\(name)\(limit).")
    case (.pageIsReady(let address), .waiting) where player == .browser:
      if SystemBrowser.isAvailable { console.progress("If it does not open: \(address)") }
    case (.browserIsUnavailable(let problem), .waiting(let waiting)):
      console.warn("no browser was opened: \(problem.firstClause)")
      console.progress("Open this address to sign in:")
      try console.result(waiting.address ?? "")
    case (.redirectIsRefused(let refusal), .waiting):
      console.warn("\(refusal); the sign-in still waits, and Ctrl-C cancels it")
    case (.userIsNotAuthorized(.cancelled), _):
      throw Failure("cancelled", "nobody signed in", status: .cancelled)
    case (.userIsNotAuthorized(.failed(let code, let message)), _):
      throw Failure(code, message, status: .notAuthorized)
    case (.userIsKnown, .main(let main)):
      let user = main.user.map { " as \($0.onScreen)" } ?? ""
      try console.result("Signed in\(user).")
      if let account = server.account { try console.result("  account  \(account.onScreen)") }
      try console.result("  scope    \(main.token.scopesInWords)")
      if let binding = main.token.bindingInWords { try console.result("  token    \(binding)") }
      try console.result("  expires  \(main.token.expiryInWords(at: Date()))")
    case (.filesAreRead(.read(let files, _)), .main):
      try console.result("The files are read.")
      for file in files { try console.result("  \(file.title.onScreen)") }
      return try filesAreShown(console, &replaced)
    case (.callHasEnded(.done(let sentence)), .main), (.callHasEnded(.failed(let sentence)), .main):
      // The tour does not fail if the server rejects the sandbox's token.
      try console.result(sentence)
      return try isDone(console, &replaced)
    case (.filesAreRead(.failed(let code, let message)), .main) where !server.isSandbox:
      // Most servers have no drive, so this is only a warning.
      console.warn("no files: \(code.onScreen): \(message.onScreen)")
      return try filesAreShown(console, &replaced)
    case (.filesAreRead(.failed(let code, let message)), .main):
      throw Failure(code, message, status: .notAuthorized)
    case (.tokenIsRefreshed(let token, _), .main):
      try console.result("The token is refreshed.")
      try console.result("  expires  \(token.expiryInWords(at: Date()))")
      if let old = replaced, token != old { app.tell(.signOut) }
    case (.tokenRefreshDidFail(let code, let message, _), _):
      throw Failure(code, message, status: .notAuthorized)
    case (.sessionDidEnd(.ended(let code, let message)), .login):
      throw Failure(code, message, status: .notAuthorized)
    case (.sessionDidEnd(nil), .login):
      // The tour's own sign-out has ended the tour before its session ends.
      throw Failure(.signedOut)
    case (.signOut, _):
      try console.result("Signed out.")
      try console.result("Please sign in.")
      return true
    default:
      break
    }
    return false
  }

  private func filesAreShown(
    _ console: Console, _ replaced: inout SQToken?
  ) throws(Failure) -> Bool {
    guard !hasServerToCall else {
      try console.result(RPCServer.waiting)
      return false
    }
    return try isDone(console, &replaced)
  }

  /// Returns `true` for an account from a store; at the sandbox, refreshes the token instead.
  ///
  /// `true` ends the tour.
  private func isDone(_ console: Console, _ replaced: inout SQToken?) throws(Failure) -> Bool {
    guard server.isSandbox else {
      try console.result("The account stays signed in.")
      return true
    }
    replaced = app.token
    app.tell(.refresh)
    return false
  }
}
