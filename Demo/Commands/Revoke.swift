import SequencingOAuth

/// `revoke`: has the server end the tokens.
struct Revoke: Command {
  static let name = "revoke"
  static let summary = "Have the server end the tokens, and forget the account."
  static let details = """
    It is the account that a login before has kept; where there is none it signs in
    first, as 'sq-demo token' does. When the server cannot be asked, or refuses, the
    account is kept.

    Where the endpoints are given by hand the revocation endpoint is needed too.
    """
  static let options = AccountOptions.options

  private let account: AccountOptions

  init(_ arguments: Arguments) throws(Failure) {
    account = try AccountOptions(arguments)
  }

  func run(_ console: Console) async throws(Failure) {
    try await account.withAccount(console) { account throws(Failure) in
      try await Failure.translating { () throws(SQOAuthError) in
        try await account.oauth.revoke()
      }
      try console.result("Revoked.")
    }
  }
}
