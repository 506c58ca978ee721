import SequencingOAuth

/// `token`: prints the access token, for scripts.
struct Token: Command {
  static let name = "token"
  static let summary = "Print the access token alone on one line."
  static let details = """
    It is the token of an account that a login before has kept, refreshed if it has
    expired; no option of a provider is needed then, and one that is given counts for
    this run. Where there is no such account it signs in first, at the provider that the
    options name, or without them at a sandbox inside the program.

    Several programs may ask at once: the token is refreshed once for all of them.
    """
  static let options = AccountOptions.options

  private let account: AccountOptions

  init(_ arguments: Arguments) throws(Failure) {
    account = try AccountOptions(arguments)
  }

  func run(_ console: Console) async throws(Failure) {
    let console = console.reservingOutput
    try await account.withAccount(console) { account throws(Failure) in
      let token = try await Failure.translating { () throws(SQOAuthError) in
        try await account.oauth.token()
      }
      try console.result(token.accessToken)
    }
  }
}
