import SequencingOAuth

/// One sign-in from the command line, at a provider that was named or at the built-in sandbox.
struct CommandLineSignIn: Sendable {
  /// Under this name the account is kept, until there can be several.
  static let accountID = "default"

  let options: SignInOptions
  let store: any TokenStore

  /// Signs in; Ctrl-C cancels.
  func run(_ console: Console) async throws(Failure) -> SQToken {
    guard let configuration = options.configuration else {
      let sandbox = try await EmbeddedSandbox(redirectURI: options.redirectURI)
      console.progress("Signing in at the built-in sandbox, \(sandbox.issuer).")
      let outcome = await outcome(try sandbox.configuration(for: options), console)
      await sandbox.stop()
      return try outcome.get()
    }
    console.progress("Signing in at \(configuration.provider.name.printable).")
    return try await outcome(configuration, console).get()
  }

  private func outcome(
    _ configuration: ClientConfiguration, _ console: Console
  ) async -> Result<SQToken, Failure> {
    var environment = ClientEnvironment()
    environment.tokenStore = store
    environment.userAgent = options.browser.userAgent(show: { url throws(Failure) in
      console.progress("Open this address to sign in:")
      try console.show(url)
    })
    let oauth = SQOAuth(environment: environment, accountID: Self.accountID)
    oauth.register(configuration)
    if let announcement = options.browser.announcement { console.progress(announcement) }

    let interrupts = Interrupts { oauth.cancelAuthorization() }
    defer { interrupts.stop() }
    do throws(SQOAuthError) {
      return .success(try await oauth.authorize())
    } catch {
      return .failure(await failure(error, interrupts))
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
