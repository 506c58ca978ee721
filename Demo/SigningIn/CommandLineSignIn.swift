import SequencingOAuth

/// How an account's user signs in from the command line: at once, or when a token is needed.
struct CommandLineSignIn: Sendable {
  private let oauth: SQOAuth
  private let options: SignInOptions
  /// Where, in words.
  private let place: String
  private let console: Console
  private let pasted: PastedRedirects

  init(_ oauth: SQOAuth, _ options: SignInOptions, at place: String, _ console: Console) {
    self.oauth = oauth
    self.options = options
    self.place = place
    self.console = console
    pasted = PastedRedirects(oauth, console)
  }

  /// Whether the redirect comes by itself, so that standard input is not read.
  var readsNoInput: Bool { options.readsNoInput }

  /// Signs in.
  func run() async throws(Failure) {
    useBrowser(announce: {})
    announce()
    do throws(SQOAuthError) {
      try await oauth.signIn()
    } catch {
      throw failure(error)
    }
  }

  /// Lets whatever needs a token sign in, and tells a person when it comes to that.
  func whenNeeded() {
    useBrowser { announce() }
  }

  /// Why a sign-in did not succeed.
  func failure(_ error: SQOAuthError) -> Failure {
    if error.code == .cancelled, let failure = pasted.failure { return failure }
    if error.code == .browserUnavailable, let failure = error.cause as? Failure { return failure }
    return Failure(error)
  }

  private func useBrowser(announce: @escaping @Sendable () -> Void) {
    let wait = SignInWait(timeout: options.timeout, server: options.server?.address)
    let browser = options.browser.commandLine(
      console, wait: wait, pass: { [oauth] in _ = oauth.module.handleRedirect($0) })
    oauth.environment.userAgent = CustomUserAgent { [options, pasted] url in
      announce()
      // A browser may not return before it is closed; the printed address comes before the question.
      if !options.readsNoInput, options.browser != .print { pasted.read(for: options.redirectURI) }
      try await browser.open(url)
      if !options.readsNoInput, options.browser == .print { pasted.read(for: options.redirectURI) }
    }
  }

  private func announce() {
    console.progress("Signing in at \(place.printable).")
    if options.redirectURI.hasWeakScheme {
      console.warn("the redirect URI's scheme has no dot, so that any other app may claim it")
    }
    if let announcement = options.browser.announcement { console.progress(announcement) }
  }
}
