import SQBasics
import SQFoundation
import SequencingOAuth

extension Option {
  fileprivate static let all = Option(
    "--all", help: "Keep all accounts of the store fresh, together with other programs.")
}

/// The command `watch`: keeps the token valid and prints a line for each refresh.
struct Watch: Command {
  static let name = "watch"
  static let summary = "Keep the token fresh and print a line for each new token."
  static let details = """
    It runs until Ctrl-C or SIGTERM, and then the exit status is 0. If a refresh fails,
    standard error says so, and the command tries again. If the session
    ends, because the server refuses to refresh it or because another program signed the
    account out, the exit status is 1.

    The account is a stored one from 'sq-demo login', or a new one, as for 'sq-demo token'.
    With --sandbox the tokens are valid for 15 seconds.

    With --all it keeps every account of the store fresh, until Ctrl-C. Any number of
    programs and hosts may do this with one store: they share the work. If the options
    name a client, it keeps only the accounts of that client. A client secret that you give
    belongs to one client, so it needs --client-id.

    Each line is like: refreshed 2025-06-01T12:00:00Z, expires in 15 s
    A token that another program has refreshed is "taken over".

    With --json each line is one object: event ("refreshed" or "taken_over"), at and
    expires_at (ISO 8601), and expires_in (seconds). With --all it has event ("refreshed",
    "taken_over", "failed", "ended", "paused" or "store_failed"), at, account, error, and for
    "paused" server and seconds.
    """
  static let options = [.all, .json] + AccountOptions.optionsOrSandbox

  private let account: AccountOptions
  private let watchesAll: Bool
  private let printsJSON: Bool

  init(_ arguments: Arguments) throws(Failure) {
    printsJSON = arguments.contains(.json)
    watchesAll = arguments.contains(.all)
    if watchesAll, arguments[.account] != nil || arguments.contains(.sandbox) {
      throw .usage("--all is for all accounts of a store; leave --account and --sandbox out")
    }
    var account = try AccountOptions(arguments)
    if watchesAll { try Self.checkSecret(of: account.signIn) }
    account.tokenLifetime = .seconds(15)
    self.account = account
  }

  /// Fails if every account's server would get a secret that belongs to one client.
  private static func checkSecret(of signIn: SignInArguments) throws(Failure) {
    guard signIn.secret != nil, signIn.clientID == nil else { return }
    throw .usage(
      "--all is for the accounts of any clients, and a client secret belongs to one: name its server "
        + "and \(Option.clientID.name), or leave the secret out (\(Option.clientSecretFile.name), "
        + "\(Secret.Kind.clientSecret.variable))")
  }

  func run(_ console: Console) async throws(Failure) {
    guard !watchesAll else {
      return try await WatchAll(account: account, printsJSON: printsJSON).run(console)
    }
    let console = printsJSON ? console.reservingOutput : console
    try await account.withAccount(console) { account throws(Failure) in
      guard let token = account.oauth.result.token else { return }
      try Self.announce(token, console)
      account.oauth.refreshesAutomatically = true
      // The loop ends when a signal cancels the task.
      for await event in account.events { try report(event, console) }
      // The shell's prompt must start on the line below the "^C" that the terminal shows.
      if console.output.isTerminal, !printsJSON { try console.result("") }
    }
  }

  private static func announce(_ token: SQToken, _ console: Console) throws(Failure) {
    guard token.refreshToken != nil else {
      throw Failure(
        SQOAuthError(
          .notAuthorized, "the server gave no refresh token, so the token cannot be refreshed"))
    }
    console.progress(
      token.expirationDate == nil
        ? "The server does not say when its tokens expire, so none will be refreshed."
        : "The token expires \(token.expiryInWords(at: Date())). Ctrl-C ends the command.")
  }

  private func report(_ event: SessionEvent, _ console: Console) throws(Failure) {
    switch event {
    case .refreshed(let token):
      try report(token, "refreshed", console)
    case .takenOver(let token):
      try report(token, "taken over", console)
    case .replaced(let token):
      console.warn("another program signed a user in to the account")
      try report(token, "taken over", console)
    case .idTokenIgnored(let error):
      console.warn("the new ID token is not used: \(Failure(error).advised)")
    case .endsSoon(let date):
      console.warn(
        "the sign-in ends \(date.momentInWords(from: Date())); sign in again before then")
    case .refreshFailed(let error):
      let failure = Failure(error)
      let isOpen = error.requiresSignIn && failure.advised == failure.message
      let advice = isOpen ? "; perhaps you must sign in again" : ""
      console.warn("\(failure.code.onScreen): \(failure.advised)\(advice)")
    case .ended(let reason):
      throw Failure(reason)
    }
  }

  private func report(
    _ token: SQToken, _ event: String, _ console: Console
  ) throws(Failure) {
    let now = Date()
    try console.result(
      printsJSON
        ? try oneLineOfJSON(WatchedToken(token, event, at: now))
        : "\(event) \(now.formatted(.iso8601)), expires \(token.expiryInWords(at: now))")
  }
}

/// A new token as JSON for a program.
private struct WatchedToken: Encodable {
  private let event: String
  private let at: String
  private let expiresAt: String?
  private let expiresIn: Int?

  init(_ token: SQToken, _ event: String, at date: Date) {
    self.event = event.replacing(" ", with: "_")
    at = date.formatted(.iso8601)
    expiresAt = token.expirationDate?.formatted(.iso8601)
    expiresIn = token.secondsLeft(at: date)
  }
}

extension Failure {
  /// Creates the failure for a session that has ended.
  init(_ reason: SessionEnd) {
    switch reason {
    case .refused(let error):
      self.init(error)
    case .signedOut:
      self.init(
        "signed_out", "the account was signed out by another program", status: .notAuthorized)
    case .revoked:
      self.init("revoked", "the tokens were revoked", status: .notAuthorized)
    case .loggedOut:
      self.init("logged_out", "the user logged out at the provider", status: .notAuthorized)
    }
  }
}
