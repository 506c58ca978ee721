import SQFoundation
import SequencingOAuth

/// The browser of a command's sign-in, which also accepts a redirect that the user pastes.
///
/// It warns at once about rejected redirects.
struct SignInBrowser: UserAgent {
  private let options: SignInArguments
  private let console: Console
  private let announce: @Sendable () -> SignInWait

  /// Creates the browser; `announce` tells the user about the sign-in and returns the time limit.
  init(
    _ options: SignInArguments, _ console: Console,
    announce: @escaping @Sendable () -> SignInWait
  ) {
    self.options = options
    self.console = console
    self.announce = announce
  }

  /// Whether the user works over SSH, so that the user's browser might not reach this machine.
  private static var isOverSSH: Bool {
    let environment = ProcessInfo.processInfo.environment
    return ["SSH_CONNECTION", "SSH_TTY"].contains { environment[$0]?.isEmpty == false }
  }

  func open(_ url: URL) async throws {
    throw SQOAuthError(
      .browserUnavailable, "this browser opens a page only for a sign-in that is under way")
  }

  func open(_ url: URL, for signIn: PendingSignIn) async throws {
    let pasted = PastedRedirects(signIn, console)
    defer { pasted.stop() }
    let wait = announce()
    let isLoopback = RedirectURI.isLoopback(signIn.redirectURI)
    let browser = options.browser.commandLine(
      console,
      didShow: {
        console.progress(wait.inWords)
        if isLoopback { pasted.offer() }
      },
      pass: { signIn.handleRedirect($0) })
    options.browser.announcement(wait, at: url).forEach(console.progress)
    let takesTerminal = options.browser.browser?.takesTerminal == true
    // The command of a browser may run until the user closes the browser, so read standard input
    // before it starts. There are two exceptions: `print` must show the address first, and a text
    // browser itself needs what the user types.
    let readsFirst = options.browser != .print && !takesTerminal
    let needsPaste = !isLoopback && options.browser.playedUser == nil
    if needsPaste, readsFirst { pasted.read() }
    if isLoopback, options.browser.isOfUser, Self.isOverSSH, !takesTerminal { pasted.offer() }
    try await browser.open(url)
    if needsPaste, !readsFirst { pasted.read() }
    try await pasted.finish(isNeeded: needsPaste)
  }

  func didRefuse(_ error: SQOAuthError, for signIn: PendingSignIn) {
    console.warn("\(error.message); the sign-in still waits, and Ctrl-C cancels it")
  }
}
