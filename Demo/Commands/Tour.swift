import OAuthSandbox
import SQBasics
import SQFoundation
import SequencingOAuth

extension Option {
  static let rpc = Option(
    "--rpc", value: "URL", help: "A gRPC server that the main screen calls with the token.")
  static let plain = Option(
    "--plain",
    help: "Print lines instead of screens, and read the letters of the keys, each with Enter: for "
      + "screen readers and braille displays.")
}

/// The command `tour`: shows the two screens of an app that signs its user in.
///
/// The server is the built-in sandbox or the user's own provider.
struct Tour: Command {
  static let name = "tour"
  static let summary = "See a whole sign-in: login screen, browser, main screen."
  static let details = """
    Without options the tour starts a sandbox, an authorization server inside the program,
    and signs its user in there. Its tokens are valid for 30 seconds, so that you see a
    refresh. The screens need a terminal; without a terminal the tour runs by itself and
    prints lines.

    With a screen reader or a braille display, use --plain: the tour prints a line when
    something has changed, and draws nothing. To press a key, type its letter, then Enter.

    With a provider, an account or a store, the tour shows that account: the main screen if
    the stored token can be used, otherwise the login screen. An account that signs in is
    kept, as 'sq-demo login' keeps it.

    The main screen also calls the sandbox's gRPC server with the token, as 'sq-demo rpc'
    does. With --rpc it calls that server instead, also for an account.
    """
  static let options =
    [.plain, .rpc, .drive]
    // Leave `--verbose` out, because the screen would overwrite the lines that it prints.
    + AccountOptions.optionsOrSandbox.filter { $0 != .verbose }

  private let account: AccountOptions
  private let browser: BrowserOption?
  private let server: RPCServer?
  private let drive: String?
  private let usesSandbox: Bool
  private let isPlain: Bool

  init(_ arguments: Arguments) throws(Failure) {
    isPlain = arguments.contains(.plain)
    let others = [.account, .store] + Server.options
    usesSandbox =
      arguments.contains(.sandbox) || !others.contains { arguments.contains($0) }
    var account = try AccountOptions(arguments, areForNew: usesSandbox)
    account.signsInWhenNeeded = true
    account.resumesSignedOut = true
    self.account = account
    browser = arguments[.browser] == nil ? nil : account.signIn.browser
    if browser == .print {
      throw .usage("--browser print is for 'login'; the tour itself shows the address")
    }
    guard account.signIn.redirectURI.isLoopback else {
      throw .usage(
        "the tour accepts only redirects to a loopback address; sign in with 'login', then run "
          + "'tour' with the account")
    }
    drive = arguments[.drive]
    try DriveAddress.check(drive)
    if usesSandbox {
      try account.signIn.checkForSandbox()
      if drive != nil {
        throw .usage(
          "--drive cannot be used with the sandbox; name an account with --account, or its server "
            + "with --provider or --issuer")
      }
    }
    server = try arguments[.rpc].map { url throws(Failure) in
      try RPCServer(url, network: arguments.network)
    }
  }

  private var hasScreen: Bool {
    !isPlain && RawTerminal.isAvailable(environment: ProcessInfo.processInfo.environment)
  }

  func run(_ console: Console) async throws(Failure) {
    var console = console
    // A line about a wait would spoil the screen.
    if hasScreen { console.observer = nil }
    guard usesSandbox else {
      return try await account.withAccount(console) { [console] account throws(Failure) in
        let start = await TourStart.resuming(account.oauth, console)
        try await run(try .account(account, drive: drive), start, calling: server, console)
      }
    }
    let signIn = try await account.signIn.unlocked(console)
    // The lifetime is short, so that the user sees the bar run down and the token refreshed.
    try await EmbeddedSandbox.running(
      for: signIn, tokenLifetime: .seconds(30)
    ) { sandbox throws(Failure) in
      let server = if let named = self.server { named } else { try sandbox.rpcServer() }
      try await run(
        try .sandbox(sandbox, signIn, console.network), .login, calling: server, console)
    }
  }

  private func run(
    _ place: TourPlace, _ start: TourStart, calling server: RPCServer?, _ console: Console
  ) async throws(Failure) {
    let app = await TourApp(
      place, browser: (browser ?? .system).userAgent(show: { _ in }),
      visitor: EmbeddedSandbox.visitor(as: browser?.playedUser ?? .alice), server: server)
    if isPlain {
      return try await TourInWords(
        app: app, server: place.server, hasServerToCall: server != nil, start: start
      ).run(console)
    }
    guard hasScreen else {
      // Without a terminal, there is probably no user for a browser, unless `--browser` was given.
      let isPlayed = browser?.playedUser != nil || (browser == nil && place.server.isSandbox)
      return try await TourInLines(
        app: app, server: place.server, player: isPlayed ? .visitor : .browser,
        hasServerToCall: server != nil, start: start
      ).run(console)
    }
    await TourOnScreen(
      app: app, server: place.server,
      appearance: Appearance(environment: ProcessInfo.processInfo.environment),
      hasServerToCall: server != nil, start: start
    ).run()
  }
}
