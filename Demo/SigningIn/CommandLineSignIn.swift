import SQBasics
import SQFoundation
import SequencingOAuth
import SequencingOAuthDiscovery

/// The sign-in of an account's user from the command line, at once or when a token is needed.
struct CommandLineSignIn: Sendable {
  private let oauth: SQOAuth
  private let options: SignInArguments
  /// The server's name or address, to show to the user.
  private let place: String
  private let console: Console
  /// The registered redirect URIs that the sign-in tries before the client's own redirect URI.
  var registeredURIs: [String] = []

  init(_ oauth: SQOAuth, _ options: SignInArguments, at place: String, _ console: Console) {
    self.oauth = oauth
    self.options = options
    self.place = place
    self.console = console
  }

  /// Whether the program gets the redirect without reading standard input.
  var readsNoInput: Bool { options.readsNoInput }

  /// The maximum time that the user has for a sign-in in the browser.
  var timeout: Duration { options.timeout }

  /// Signs in at once, in a browser or on another device.
  func run() async throws(Failure) {
    if try await usesOtherDevice() {
      console.progress("Signing in at \(place.onScreen).")
      do throws(SQOAuthError) {
        try await oauth.signInWithDeviceCode(showing: DeviceCodeScreen(options, console).present)
        return
      } catch {
        guard !options.usesDevice, error.refusesCode else {
          throw error.cause as? Failure ?? Failure(error).ofSignIn
        }
        console.warn(DeviceCodeScreen.isRefused(by: error))
      }
    }
    useBrowser {}
    announceServer()
    do throws(SQOAuthError) {
      try await signInWithFreePort()
    } catch {
      throw failure(error).ofSignIn
    }
  }

  /// Signs in with the first registered redirect URI whose port is free.
  ///
  /// Many servers accept only the registered ports.
  private func signInWithFreePort() async throws(SQOAuthError) {
    if let configuration = oauth.module.configuration {
      for uri in registeredURIs {
        oauth.register(try configuration.redirecting(to: uri))
        do throws(SQOAuthError) {
          try await signInOnce()
          return
        } catch {
          guard error.code == .portInUse else { throw error }
        }
      }
      oauth.register(configuration)
    }
    try await signInOnce()
  }

  private func signInOnce() async throws(SQOAuthError) {
    guard let responseMode = options.responseMode else {
      try await oauth.signIn()
      return
    }
    var question = SignInOptions()
    question.responseMode = responseMode
    try await oauth.signIn(with: question)
  }

  /// Makes the SDK sign in when a request needs a token, and announces the sign-in then.
  func whenNeeded() {
    useBrowser { announceServer() }
  }

  /// Revokes the tokens, ends the user's session at the provider in the browser, and removes the
  /// account.
  func logOut() async throws(Failure) -> LogoutReach {
    let reach = Locked(options.browser.playedUser != nil ? LogoutReach.done : .opened)
    oauth.environment.userAgent = options.browser.commandLine(
      console, for: "log out", didShow: { reach.withLock { $0 = .shown } })
    console.progress("Logging out at \(place.onScreen).")
    if options.browser.isOfUser, options.browser.browser?.takesTerminal != true {
      // The address names the user, so it is printed only if necessary.
      console.progress("If no browser opens: --browser print shows the address.")
    }
    try await Failure.translating { () throws(SQOAuthError) in
      try await oauth.endSession(revokesTokens: true)
    }
    return reach.withLock(\.self)
  }

  /// Returns whether the user wants or needs to sign in on another device.
  ///
  /// Fails if the server does not answer, because the sign-in would then fail, too.
  private func usesOtherDevice() async throws(Failure) -> Bool {
    guard !options.usesDevice else { return true }
    // The built-in sandbox runs on this machine, so its users' browser must run here, too.
    guard options.browser == .system, options.server != nil, !SystemBrowser.isAvailable else {
      return false
    }
    do throws(SQOAuthError) {
      guard try await oauth.providerMetadata().deviceAuthorizationEndpoint != nil else {
        return false
      }
      tellOfNamedBrowser()
      return true
    } catch {
      throw Failure(error).ofSignIn
    }
  }

  /// Warns why another device is used instead of the browser that the user has named.
  private func tellOfNamedBrowser() {
    guard ProcessInfo.processInfo.environment["BROWSER"]?.isEmpty == false,
      let error = SystemBrowser.unavailability
    else { return }
    let reason = error.message.firstClause
    console.warn("no browser of this machine is used (BROWSER): \(reason)")
  }

  /// Returns the failure for a sign-in that ended with an error.
  func failure(_ error: SQOAuthError) -> Failure {
    if error.code == .browserUnavailable, let failure = error.cause as? Failure { return failure }
    return Failure(error)
  }

  private func useBrowser(announce: @escaping @Sendable () -> Void) {
    let wait = SignInWait(timeout: options.timeout, server: options.server?.address)
    oauth.environment.userAgent = SignInBrowser(options, console) {
      announce()
      return wait
    }
  }

  private func announceServer() {
    console.progress("Signing in at \(place.onScreen).")
    if options.redirectURI.hasWeakScheme {
      console.warn("the redirect URI's scheme has no dot, so another app may claim it easily")
    }
  }
}
