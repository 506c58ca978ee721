import SQFoundation
import SequencingOAuth

/// The tour on a terminal: draws the screens and turns keys into events.
@MainActor
struct TourOnScreen {
  private enum Input: Sendable {
    case event(Coordinator.Event)
    case terminal(TerminalInput.Event)
    case tick
  }

  let app: TourApp
  let server: TourServer
  let appearance: Appearance
  var hasServerToCall = false
  var start = TourStart.login

  /// Runs the tour until the user quits.
  func run() async {
    let (inputs, continuation) = AsyncStream.makeStream(of: Input.self)
    let screen = TourScreen { continuation.yield(.terminal($0)) }
    screen.enter()
    // The program leaves its screen while a text browser uses the terminal.
    TerminalLoan.use(TerminalLoan.Screen(leave: screen.leave, enter: screen.enter))
    let feeders = [
      Task { [events = app.events] in
        for await event in events { continuation.yield(.event(event)) }
      },
      Task {
        while !Task.isCancelled {
          try await Task.sleep(for: .seconds(1))
          continuation.yield(.tick)
        }
      },
    ]
    defer {
      feeders.forEach { $0.cancel() }
      TerminalLoan.use(nil)
      screen.leave()
    }
    await loop(inputs, screen.terminal)
  }

  private func loop(_ inputs: AsyncStream<Input>, _ terminal: RawTerminal) async {
    var coordinator = Coordinator(
      hasServerToCall: hasServerToCall, screen: .login(notice: start.notice))
    if let token = start.token, let action = coordinator.handle(.userIsAuthorized(token)) {
      app.perform(action)
    }
    var seconds = 0
    draw(coordinator.screen, seconds, terminal)
    for await input in inputs {
      var event: Coordinator.Event?
      switch input {
      case .event(let told): event = told
      case .terminal(.key(.suspend)): terminal.suspend()
      case .terminal(.key(let key)):
        event = Self.event(for: key, on: coordinator.screen, atSandbox: server.isSandbox)
      case .terminal(.ended): event = .quit
      case .terminal(.needsDrawing): terminal.forget()
      case .tick: seconds += 1
      }
      if let event {
        // `signIn` and `readFiles` start a sign-in; the screen shows the seconds since its start.
        switch event {
        case .signIn, .readFiles: seconds = 0
        default: break
        }
        let action = coordinator.handle(event)
        if let action { app.perform(action) }
        if action == .quit { return }
      }
      draw(coordinator.screen, seconds, terminal)
    }
    // The input ends when a signal cancels the task.
    app.perform(.quit)
  }

  private func draw(_ screen: Coordinator.Screen, _ seconds: Int, _ terminal: RawTerminal) {
    let (columns, rows) = terminal.size
    let canvas = Canvas(columns: columns, glyphs: appearance.glyphs)
    let page =
      switch screen {
      case .main(let main):
        MainView(main: main, date: Date(), server: server).page(canvas)
      default:
        LoginView(server: server, screen: screen, seconds: seconds).page(canvas)
      }
    terminal.draw(page.lines(canvas, columns: columns, rows: rows), appearance.colours)
  }

  /// Returns the event that a pressed key causes on a screen.
  ///
  /// Only the sandbox has keys for a simulated user, for the end of the session at the server, and
  /// for a call with a bad token.
  nonisolated static func event(
    for key: Key, on screen: Coordinator.Screen, atSandbox: Bool = true
  ) -> Coordinator.Event? {
    switch (key, screen) {
    case (.interrupt, _), (.character("q"), _): .quit
    case (.enter, .login): .signIn(.browser)
    case (.character("s"), .login) where atSandbox: .signIn(.visitor)
    case (.character("f"), .login), (.character("f"), .main): .readFiles
    case (.character("s"), .waiting) where atSandbox: .playUser
    case (.character("a"), .waiting): .showAddress
    case (.escape, .waiting): .cancelSignIn
    case (.character("r"), .main): .refresh
    case (.character("e"), .main) where atSandbox: .endSessionAtServer
    case (.character("c"), .main): .call
    case (.character("b"), .main) where atSandbox: .callWithBadToken
    case (.character("v"), .main): .revoke
    case (.character("o"), .main): .signOut
    default: nil
    }
  }
}
