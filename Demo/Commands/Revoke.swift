import SQBasics
import SequencingOAuth

/// The command `revoke`: revokes the tokens at the server and erases the account.
struct Revoke: Command {
  static let name = "revoke"
  static let summary = "Make the server revoke the tokens, and forget the account."
  static let details = """
    If the server cannot be reached, or if it refuses, the account is kept. If there is no
    such account, the command says so, and the exit status is 0. The command forgets
    everything that 'sq-demo logout' forgets.

    If you give the endpoints by hand, the revocation endpoint is needed too.

    With --json it prints one object: account, and revoked, which is false if there was no
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
    let wasThere = try await account.withKeptAccount(
      console, signedOut: { _ throws(Failure) in try reportNobody(console) }
    ) { account throws(Failure) in
      try await Failure.translating { () throws(SQOAuthError) in
        try await account.oauth.revoke()
      }
      try await account.store.clients?.forget(account.id)
      try report(
        account.id, console,
        account.id == AccountChoice.defaultID
          ? "Revoked." : "Revoked the account \"\(account.id.onScreen)\".")
    }
    if !wasThere { try reportNobody(console) }
  }

  private func reportNobody(_ console: Console) throws(Failure) {
    try report(account.choice.id, hasRevoked: false, console, account.choice.nobodyText)
  }

  private func report(
    _ id: String?, hasRevoked: Bool = true, _ console: Console, _ sentence: String
  ) throws(Failure) {
    try console.result(
      printsJSON ? try oneLineOfJSON(EndReport(account: id, revoked: hasRevoked)) : sentence)
  }
}
