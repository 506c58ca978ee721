import SequencingOAuth

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension Option {
  static let json = Option(
    "--json", help: "Print one JSON object on standard output, and nothing else there.")
}

/// `login`: signs in and keeps the account.
struct Login: Command {
  static let name = "login"
  static let summary = "Sign in, in your browser or without one."
  static let details = """
    Without --issuer, or --authorize and --token, it is a sandbox inside the program,
    for this run only: its users are shown on its login page.

    The access token itself is printed with --json only, since it is as good as a
    password: access_token, token_type, expires_at (ISO 8601), expires_in (seconds),
    scope and refresh_token, as far as the server sent them.
    """
  static let options = SignInOptions.options + [.store, .json]

  private let signIn: SignInOptions
  private let store: StoreOption?
  private let printsJSON: Bool

  init(_ arguments: Arguments) throws(Failure) {
    signIn = try SignInOptions(arguments)
    store = try StoreOption(arguments[.store])
    printsJSON = arguments.contains(.json)
  }

  func run(_ console: Console) async throws(Failure) {
    // An account of the built-in sandbox is of no use to a later run.
    let (store, place) = try StoreOption.open(
      signIn.configuration == nil ? store ?? .memory : store)
    let console = printsJSON ? console.reservingOutput : console
    let token = try await CommandLineSignIn(options: signIn, store: store).run(console)
    try console.result(
      printsJSON
        ? try TokenReport(token, at: Date()).json()
        : TokenSummary(token, at: Date(), keptIn: place).text)
  }
}
