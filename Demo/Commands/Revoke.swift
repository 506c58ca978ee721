import SequencingOAuth

/// `revoke`: has the server end the tokens.
struct Revoke: Command {
  static let name = "revoke"
  static let summary = "Have the server end the tokens, and forget the account."
  static let details = """
    When the server cannot be asked, or refuses, the account is kept. Where there is no
    such account it says so, and the exit status is 0: nobody is signed in to be revoked.
    What is forgotten is the same as for 'sq-demo logout'.

    Where the endpoints are given by hand the revocation endpoint is needed too.
    """
  static let options = AccountOptions.options

  private let account: AccountOptions

  init(_ arguments: Arguments) throws(Failure) {
    account = try AccountOptions(arguments)
  }

  func run(_ console: Console) async throws(Failure) {
    let wasThere = try await account.withKeptAccount(console, mayBeSignedOut: true) {
      account throws(Failure) in
      try await Failure.translating { () throws(SQOAuthError) in
        try await account.oauth.revoke()
      }
      try await account.store.clients?.forget(account.id)
      try console.result(
        account.id == AccountChoice.defaultID
          ? "Revoked." : "Revoked the account \"\(account.id.printable)\".")
    }
    if !wasThere { try console.result(account.choice.nobody) }
  }
}
