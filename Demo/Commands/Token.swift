import SequencingOAuth

/// `token`: prints the access token, for scripts.
struct Token: Command {
  static let name = "token"
  static let summary = "Print the access token alone on one line."
  static let details = """
    It is the token of the account that a login before has kept, refreshed if it has
    expired. Where there is none it signs in first, at the provider that the options
    name, or without them at a sandbox inside the program.
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
