import SQBasics
import SQFoundation
import SequencingOAuth

/// What the user sees while a resource's client signs the user in: a page or a code.
final class ResourceScreens: Sendable {
  private struct State {
    /// The server at which the newest sign-in takes place.
    var issuer = ""
    var signIns = 0
    var hasAccount = false
  }

  private let address: String
  private let options: SignInArguments
  /// The name that the user gives to a new account.
  private let newID: String?
  private let console: Console
  private let state = Locked(State())

  init(
    _ address: String, _ options: SignInArguments, newID: String? = nil, _ console: Console
  ) {
    // Leave out the query, which may be long and does not belong to the resource.
    self.address = String(address.prefix { $0 != "?" })
    self.options = options
    self.newID = newID
    self.console = console
  }

  /// Whether the user was asked to sign in.
  var hasSignedIn: Bool { state.withLock { $0.signIns > 0 } }

  /// Notes that there was an account before the first request.
  func noteAccount() { state.withLock { $0.hasAccount = true } }

  // MARK: Deciding

  /// Returns whether the user signs in with a code on another device.
  ///
  /// It throws if there is neither a browser nor a terminal and no option decides, because no user
  /// would see a page or a code.
  var usesCode: @Sendable (String, ProviderMetadata) async throws(SQOAuthError) -> Bool {
    { [self] (issuer, server) async throws(SQOAuthError) -> Bool in
      state.withLock { $0.issuer = issuer }
      try checkVisitor(issuer)
      if options.usesDevice { return true }
      guard options.browser == .system, !SystemBrowser.isAvailable else { return false }
      guard console.errors.isTerminal else { throw needsUser }
      return server.deviceAuthorizationEndpoint != nil
    }
  }

  private var needsUser: SQOAuthError {
    let reason =
      if let newID {
        "there is no account \"\(newID.onScreen)\" yet,"
      } else if state.withLock(\.hasAccount) {
        "\(address.onScreen) does not accept the account as it is,"
      } else {
        "\(address.onScreen) demands a sign-in,"
      }
    return SQOAuthError(
      .browserUnavailable, "a user must sign in, and none can be asked here",
      cause: Failure(
        "sign_in_needed", "\(reason) and there is neither a browser nor a terminal",
        status: .notAuthorized
      ).withHint(
        "Sign in once: run this in a terminal, or with --device or --browser print.\n"
          + "The account is kept for later runs."))
  }

  /// Throws if the sandbox's password would be sent to another machine.
  private func checkVisitor(_ issuer: String) throws(SQOAuthError) {
    guard options.browser.playedUser != nil, !EmbeddedSandbox.canBeVisited(issuer) else { return }
    throw SQOAuthError(
      .browserUnavailable, "the simulated user can sign in only at a sandbox",
      cause: Failure.usage("--browser sandbox plays the user of a sandbox on this machine only"))
  }

  /// Tells the user why a sign-in is needed, and at which server it takes place.
  private func announce() {
    let (issuer, isMore) = state.withLock { state in
      defer { state.signIns += 1 }
      return (state.issuer, state.hasAccount || state.signIns > 0)
    }
    let reason =
      if isMore {
        "The server does not accept the account as it is; sign in again."
      } else if let newID {
        "The account \"\(newID.onScreen)\" is new."
      } else {
        "\(address.onScreen) needs a token."
      }
    console.progress(reason)
    console.progress("Signing in at \(issuer.onScreen).")
  }

  // MARK: A page

  /// The browser for a sign-in; it announces the sign-in when it opens a page.
  var browser: any UserAgent {
    SignInBrowser(options, console) { [self] in
      announce()
      return SignInWait(timeout: options.timeout, server: state.withLock(\.issuer))
    }
  }

  // MARK: A code

  /// The closure that shows a code, or enters it for the sandbox's user.
  var showCode: @Sendable (DeviceAuthorization) async throws -> Void {
    { [self] authorization in
      announce()
      try await DeviceCodeScreen(options, console).present(authorization)
    }
  }

  /// The closure that decides whether to open the sign-in page if the server refuses a code for
  /// another device; `nil` if the user asked for that code.
  var showPage: (@Sendable (SQOAuthError) -> Bool)? {
    guard !options.usesDevice else { return nil }
    return { [console] error in
      console.warn(DeviceCodeScreen.isRefused(by: error))
      return true
    }
  }

  // MARK: A failure

  /// Returns the failure for an error of the resource's client.
  ///
  /// `signIn` is the command that signs the account in again, if there is one; `login` is the
  /// command that signs in an account of another name.
  func failure(_ error: SQOAuthError, signIn: String?, login: String) -> Failure {
    if let failure = error.cause as? Failure { return failure }
    if Task.isCancelled, error.code == .cancelled { return .interrupted }
    let failure = Failure(error)
    switch error.code {
    case .clientUnknown:
      return failure.withHint(
        "Register a client at that server by hand, then run 'sq-demo login' with --issuer and "
          + "--client-id. Or use --client-id with the URL of a client metadata document.")
    case .insufficientScope:
      return failure.withHint(Failure.signInForMore).naming(signIn)
    case .insufficientUserAuthentication:
      return failure.withHint(
        "The server demands a different or a more recent login. Log in as its page asks you to; "
          + "the line 'challenge' says what the server demands, if the server names it.")
    case .resourceMetadataInvalid:
      return failure.withHint("'sq-demo discover \(ShellWords.quote(address.onScreen))' says more.")
    default:
      return (hasSignedIn ? failure.ofSignIn : failure).naming(login, ofOptionsAt: issuer)
    }
  }

  private var issuer: String { state.withLock(\.issuer) }
}

extension Failure {
  /// Returns this failure; if the hint names an option that the call refuses, the hint also names
  /// the command `login`.
  ///
  /// A call that finds its server by itself refuses these options.
  fileprivate func naming(_ login: String, ofOptionsAt issuer: String) -> Failure {
    let words = hint?.split { " .,;".contains($0) } ?? []
    let refused = ServerExceptions.options + [.auth, .key, .par, .profile, .redirectURI]
    guard let hint, hint.hasPrefix("In sq-demo, use "), !issuer.isEmpty,
      let option = refused.first(where: { words.contains($0.name[...]) })
    else { return self }
    let quoted = ShellWords.quote(issuer.onScreen)
    return withHint(
      "\(hint)\nThat option needs a named server: sign in with '\(login) \(Option.issuer.name) "
        + "\(quoted)' and \(option.name), then call again. The call then uses the client of that "
        + "account.")
  }
}
