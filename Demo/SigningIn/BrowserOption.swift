import SequencingOAuth

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension Option {
  static let browser = Option(
    "--browser", value: "system|print|sandbox|COMMAND",
    help: "What shows the server's pages: your browser (the default); nothing, and the address "
      + "is printed for you to open; nobody, and the user of a sandbox is played; or a command, "
      + "split into words as a shell would and run with the address as its last word.")
}

/// What `--browser` asks for.
enum BrowserOption: Sendable, Equatable {
  case system
  case print
  case sandbox
  case command([String])

  init(_ text: String?) throws(Failure) {
    switch text {
    case nil, "system": self = .system
    case "print": self = .print
    case "sandbox": self = .sandbox
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

  /// What a person is told while it is under way.
  var announcement: String? {
    switch self {
    case .system: "Your browser opens; sign in there. Ctrl-C cancels."
    case .print: nil
    case .sandbox: "The sandbox's visitor plays the user."
    case .command(let words): "\(words[0].printable) is started; sign in there. Ctrl-C cancels."
    }
  }

  /// The user agent that does it, which fails when a browser does not open.
  ///
  /// `show` is called with the address where it is to be printed, and `pass` with a redirect that
  /// the sandbox's visitor cannot call.
  func userAgent(
    show: @escaping @Sendable (String) throws -> Void,
    pass: @escaping @Sendable (String) -> Void = { _ in }
  ) -> any UserAgent {
    switch self {
    case .system: SystemBrowser()
    case .print: CustomUserAgent { try show($0.absoluteString) }
    case .sandbox: EmbeddedSandbox.visitor(pass: pass)
    case .command(let words): SystemBrowser(command: words)
    }
  }

  /// The user agent of a command, which prints the address when a browser does not open, and how
  /// long it waits then.
  func commandLine(
    _ console: Console, wait: SignInWait, pass: @escaping @Sendable (String) -> Void = { _ in }
  ) -> any UserAgent {
    let show: @Sendable (String) throws(Failure) -> Void = { address in
      console.progress("Open this address to sign in:")
      try console.show(address)
      console.progress(wait.inWords)
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
