import SequencingOAuth

/// One sign-in from the command line.
struct CommandLineSignIn: Sendable {
  let oauth: SQOAuth
  let options: SignInOptions

  /// Signs in; Ctrl-C cancels.
  func run(_ console: Console) async throws(Failure) -> SQToken {
    let pasted = PastedRedirects(oauth, console)
    let browser = options.browser.userAgent(
      show: { url throws(Failure) in
        console.progress("Open this address to sign in:")
        try console.show(url)
      },
      pass: { [oauth] in _ = oauth.module.handleRedirect($0) })
    oauth.environment.userAgent = CustomUserAgent { [options] url in
      // A browser may not return before it is closed; the printed address comes before the question.
      if !options.readsNoInput, options.browser != .print { pasted.read(for: options.redirectURI) }
      try await browser.open(url)
      if !options.readsNoInput, options.browser == .print { pasted.read(for: options.redirectURI) }
    }
    if options.redirectURI.hasWeakScheme {
      console.warn("the redirect URI's scheme has no dot, so that any other app may claim it")
    }
    if let announcement = options.browser.announcement { console.progress(announcement) }

    let interrupts = Interrupts { [oauth] in oauth.cancelAuthorization() }
    defer { interrupts.stop() }
    do throws(SQOAuthError) {
      return try await oauth.authorize()
    } catch {
      if error.code == .cancelled, let failure = pasted.failure { throw failure }
      throw await failure(error, interrupts)
    }
  }

  /// A Ctrl-C reaches the browser's command too, and its end may be heard of first.
  private func failure(_ error: SQOAuthError, _ interrupts: Interrupts) async -> Failure {
    if error.code == .browserUnavailable {
      if let failure = error.cause as? Failure { return failure }
      if await interrupts.haveCome(within: .milliseconds(50)) {
        return Failure(SQOAuthError(.cancelled, "the sign-in was cancelled"))
      }
    }
    return Failure(error)
  }
}
