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

    With --json it is one object: account, and revoked, which is false if there was no
    such account.
    """
  static let options = [.json] + AccountOptions.options

  private let account: AccountOptions
  private let printsJSON: Bool

  init(_ arguments: Arguments) throws(Failure) {
    account = try AccountOptions(arguments)
    printsJSON = arguments.contains(.json)
  }

  func run(_ console: Console) async throws(Failure) {
    let console = printsJSON ? console.reservingOutput : console
    let wasThere = try await account.withKeptAccount(console, mayBeSignedOut: true) {
      account throws(Failure) in
      try await Failure.translating { () throws(SQOAuthError) in
        try await account.oauth.revoke()
      }
      try await account.store.clients?.forget(account.id)
      try report(
        account.id, console,
        account.id == AccountChoice.defaultID
          ? "Revoked." : "Revoked the account \"\(account.id.printable)\".")
    }
    if !wasThere {
      try report(account.choice.id, hasRevoked: false, console, account.choice.nobody)
    }
  }

  private func report(
    _ id: String?, hasRevoked: Bool = true, _ console: Console, _ sentence: String
  ) throws(Failure) {
    try console.result(
      printsJSON ? try oneLineOfJSON(EndReport(account: id, revoked: hasRevoked)) : sentence)
  }
}
