import SequencingOAuth

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// `token`: prints the access token, for scripts.
struct Token: Command {
  static let name = "token"
  static let summary = "Print the access token alone on one line."
  static let details = """
    It is the token of an account that a login before has kept, refreshed if it has
    expired; no option of a provider is needed then, and one that is given counts for
    this run. If there is no such account, the command signs in first at the provider
    that the options name. Without a provider it fails with no_account and exit status 1.

    Several programs may ask at once: the token is refreshed once for all of them.

    With --json it is one object: access_token, token_type, expires_at (ISO 8601),
    expires_in (seconds) and scope, as far as the server sent them.
    """
  static let options = [.json] + AccountOptions.optionsOrSandbox

  private let account: AccountOptions
  private let printsJSON: Bool

  init(_ arguments: Arguments) throws(Failure) {
    account = try AccountOptions(arguments)
    printsJSON = arguments.contains(.json)
  }

  func run(_ console: Console) async throws(Failure) {
    let console = console.reservingOutput
    try await account.withAccount(console) { account throws(Failure) in
      let token = try await Failure.translating { () throws(SQOAuthError) in
        try await account.oauth.token()
      }
      try console.result(
        printsJSON
          ? try TokenReport(token, at: Date(), withRefreshToken: false).json()
          : token.accessToken)
    }
  }
}
