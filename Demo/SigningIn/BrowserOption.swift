import OAuthSandbox
import SQBasics
import SQFoundation
import SequencingOAuth

extension Option {
  static let browser = Option(
    "--browser", value: "system|print|sandbox|COMMAND",
    help: "How the server's pages are opened. system: in your browser (the default). print: not at "
      + "all; the program prints the address for you to open. sandbox: the program plays a user of a "
      + "sandbox, alice or the one in sandbox=NAME:PASSWORD. COMMAND: by a command, which is split "
      + "into words as in a shell and gets the address as its last word.")
}

/// The value of `--browser`: how the server's pages are opened.
enum BrowserOption: Sendable, Equatable {
  case system
  case print
  case sandbox(as: SandboxUser)
  case command([String])

  init(_ text: String?) throws(Failure) {
    switch text {
    case nil, "system": self = .system
    case "print": self = .print
    case "sandbox": self = .sandbox(as: .alice)
    case let text? where text.hasPrefix("sandbox="): self = .sandbox(as: try Self.user(text))
    case let text?:
      guard let words = ShellWords.split(text) else {
        throw .usage("the command of --browser has a quote that is not closed")
      }
      guard words.first?.isEmpty == false else {
        throw .usage("the command of --browser is empty")
      }
      self = .command(words)
    }
  }

  /// Reads the name and the password of a sandbox's user, which are for tests.
  private static func user(_ text: String) throws(Failure) -> SandboxUser {
    let parts = text.dropFirst("sandbox=".count).split(separator: ":", maxSplits: 1)
    guard parts.count == 2 else {
      throw .usage(
        "--browser sandbox= takes a user's name and password, such as sandbox=bob:bob-password")
    }
    return SandboxUser(name: String(parts[0]), password: String(parts[1]))
  }

  /// The sandbox user for whom the program signs in by itself; `nil` if a person signs in.
  var playedUser: SandboxUser? {
    if case .sandbox(let user) = self { user } else { nil }
  }

  /// Whether the user's browser opens the pages.
  var isOfUser: Bool {
    switch self {
    case .system, .command: true
    case .print, .sandbox: false
    }
  }

  /// The user's browser that opens the pages; `nil` if none does.
  var browser: SystemBrowser? {
    switch self {
    case .system: SystemBrowser().lentTheTerminal
    case .command(let words): SystemBrowser(command: words).lentTheTerminal
    case .print, .sandbox: nil
    }
  }

  /// Returns the lines that tell the user how the sign-in continues.
  ///
  /// For a browser with a window, they contain the address, because a browser may report success
  /// although no window opens.
  func announcement(_ wait: SignInWait, at url: URL) -> [String] {
    let name: String
    switch self {
    case .print: return []
    case .sandbox(let user):
      return ["The sandbox's simulated user signs in as \(user.name.onScreen)."]
    case .system where !SystemBrowser.isAvailable: return []
    case .system: name = "Your browser opens"
    case .command(let words): name = "\(words[0].onScreen) is started"
    }
    guard browser?.takesTerminal != true else {
      return ["\(name) in this terminal; sign in there \(wait.limit), then leave it."]
    }
    return [
      "\(name); sign in there \(wait.limit). Ctrl-C cancels.",
      "If it does not open: \(url.absoluteString)",
    ]
  }

  /// Returns the user agent that opens the pages, and that fails if a browser does not open.
  ///
  /// For `print`, it calls `show` with the address. For `sandbox`, the simulated user calls `pass`
  /// with a redirect that it cannot request itself.
  func userAgent(
    show: @escaping @Sendable (String) throws -> Void,
    pass: @escaping @Sendable (String) -> Void = { _ in }
  ) -> any UserAgent {
    switch self {
    case .system, .command: browser ?? SystemBrowser()
    case .print: CustomUserAgent { try show($0.absoluteString) }
    case .sandbox(let user): EmbeddedSandbox.visitor(as: user, pass: pass)
    }
  }

  /// Returns the user agent for a command's sign-in or logout.
  ///
  /// If no browser opens, the user agent prints the address and calls `didShow`.
  func commandLine(
    _ console: Console, for act: String = "sign in", didShow: @escaping @Sendable () -> Void,
    pass: @escaping @Sendable (String) -> Void = { _ in }
  ) -> any UserAgent {
    let show: @Sendable (String) throws(Failure) -> Void = { address in
      console.progress("Open this address to \(act):")
      try console.show(address)
      didShow()
    }
    let browser = userAgent(show: show, pass: pass)
    switch self {
    case .print, .sandbox:
      return browser
    case .system, .command:
      return HelpfulBrowser(browser: browser) { address, reason in
        console.warn("no browser was opened: \(reason)")
        try show(address)
      }
    }
  }
}
