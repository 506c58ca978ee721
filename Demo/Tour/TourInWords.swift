import Dispatch
import SQBasics
import SQFoundation
import SequencingOAuth

/// The tour for a screen reader or a braille display: prints lines, and reads a line for each key.
///
/// It prints only changes, except that an unknown key repeats the whole screen. It shows no running
/// time and no bar.
@MainActor
struct TourInWords {
  private enum Input: Sendable {
    case event(Coordinator.Event)
    case line(String)
    case end
  }

  let app: TourApp
  let server: TourServer
  var hasServerToCall = false
  var start = TourStart.login

  /// Runs the tour until the user quits or standard input ends.
  func run(_ console: Console) async throws(Failure) {
    let (inputs, continuation) = AsyncStream.makeStream(of: Input.self)
    let events = Task { [events = app.events] in
      for await event in events { continuation.yield(.event(event)) }
    }
    let isOver = Locked(false)
    defer {
      events.cancel()
      isOver.withLock { $0 = true }
    }
    // The read gets its own thread, because it waits for the user.
    DispatchQueue(label: "sq-demo.words").async {
      var lines = InputLines()
      while let line = lines.next(while: { !isOver.withLock(\.self) }) {
        continuation.yield(.line(line))
      }
      continuation.yield(.end)
    }
    try await loop(inputs, console)
  }

  private func loop(_ inputs: AsyncStream<Input>, _ console: Console) async throws(Failure) {
    var coordinator = Coordinator(
      hasServerToCall: hasServerToCall, screen: .login(notice: start.notice))
    if let token = start.token, let action = coordinator.handle(.userIsAuthorized(token)) {
      app.perform(action)
    }
    var told = Told(words: words(coordinator.screen), prompt: prompt(coordinator.screen))
    try console.result(told.all)
    for await input in inputs {
      let event: Coordinator.Event
      switch input {
      case .event(let next): event = next
      case .end: event = .quit
      case .line(let line):
        guard let pressed = Self.event(for: line, on: coordinator.screen, server) else {
          try console.result(told.all)
          continue
        }
        event = pressed
      }
      let action = coordinator.handle(event)
      if let action { app.perform(action) }
      if action == .quit { return }
      let now = Told(words: words(coordinator.screen), prompt: prompt(coordinator.screen))
      if let news = now.news(since: told) { try console.result(news) }
      told = now
    }
    app.perform(.quit)
  }

  /// The lines of a screen: its words and its keys.
  private struct Told {
    let words: [String]
    let prompt: String

    var all: String { (words + [prompt]).joined(separator: "\n") }

    /// Returns the lines that were not printed yet, or `nil` if there are none.
    func news(since before: Told) -> String? {
      let lines =
        words.filter { !before.words.contains($0) } + (prompt == before.prompt ? [] : [prompt])
      return lines.isEmpty ? nil : lines.joined(separator: "\n")
    }
  }

  private static func event(
    for line: String, on screen: Coordinator.Screen, _ server: TourServer
  ) -> Coordinator.Event? {
    key(in: line).flatMap { TourOnScreen.event(for: $0, on: screen, atSandbox: server.isSandbox) }
  }

  /// Returns the key that a line stands for, from a single letter or the name of the key.
  nonisolated static func key(in line: String) -> Key? {
    switch line.split(whereSeparator: \.isWhitespace).joined().lowercased() {
    case "", "enter": .enter
    case "esc": .escape
    case let word where word.count == 1: word.first.map(Key.character)
    default: nil
    }
  }

  /// A very wide canvas, because the terminal or the screen reader breaks the lines.
  private static let canvas = Canvas(width: 10_000, glyphs: .ascii)

  private func prompt(_ screen: Coordinator.Screen) -> String {
    let hints = page(screen).keys.map { "\($0.key) to \($0.meaning)" }
    return "Type a key and Enter: \(hints.joined(separator: ", "))."
  }

  private func page(_ screen: Coordinator.Screen) -> Page {
    switch screen {
    case .main(let main): MainView(main: main, date: Date(), server: server).page(Self.canvas)
    default: LoginView(server: server, screen: screen, seconds: 0).page(Self.canvas)
    }
  }

  /// Returns the lines of a screen, without lines that change by themselves.
  private func words(_ screen: Coordinator.Screen) -> [String] {
    switch screen {
    case .main(let main): words(main)
    case .waiting(let waiting): words(waiting)
    case .login: page(screen).body.map(\.text).filter { !$0.isEmpty }
    }
  }

  private func words(_ waiting: Coordinator.Waiting) -> [String] {
    guard waiting.player == .browser else { return ["The sandbox's simulated user signs in."] }
    let limit = server.limit.map { " You have \($0.components.seconds) s." } ?? ""
    let address = waiting.showsAddress ? waiting.address.map { "Open this address: \($0)" } : nil
    return ["Waiting for you to sign in in the browser.\(limit)"]
      + (waiting.remarks + [address].compactMap(\.self)).map(\.onScreen)
  }

  private func words(_ main: Coordinator.Main) -> [String] {
    var words = ["Signed in\(main.user.map { " as \($0)" } ?? "")."]
    words.append("scope: \(main.token.scopesInWords)")
    if let binding = main.token.bindingInWords { words.append("token: \(binding)") }
    if let date = main.token.expirationDate { words.append("expires: \(date.formatted(.iso8601))") }
    switch main.files {
    case .unread, .reading: break
    case .read(let files, _): words += files.map { "file: \($0.title)" }
    case .failed(let code, let message): words.append("no files: \(message) (\(code))")
    }
    switch main.call {
    case .done(let sentence): words.append("rpc: \(sentence)")
    case .failed(let sentence): words.append("rpc: \(sentence)")
    case .waiting, .notMade, nil: break
    }
    if main.isOverAtServer { words.append("The server has ended the session.") }
    for news in main.news.reversed() {
      switch news.kind {
      case .refreshed: words.append("Token refreshed at \(news.date.formatted(.iso8601)).")
      case .failed(let code, let message): words.append("Refresh failed: \(message) (\(code))")
      case .notRevoked(let code, let message): words.append("Not revoked: \(message) (\(code))")
      }
    }
    return words.map(\.onScreen)
  }
}
