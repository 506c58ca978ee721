import SQFoundation
import SequencingOAuth

/// The command `token`: prints the access token for scripts.
struct Token: Command {
  static let name = "token"
  static let summary = "Print only the access token, on one line."
  static let details = """
    The token belongs to an account that 'sq-demo login' has stored. It is refreshed if it
    has expired. Then no provider's option is needed; an option that you give counts for this
    run. If there is no such account, the command first signs in at the provider that the
    options name. Without a provider it fails with no_account and exit status 1. An account
    of another server or client than the options name is not used: the command fails with
    invalid_configuration.

    Several programs may ask at once: the token is refreshed once for all of them.

    A token that is bound to a key (--dpop, --profile) is worth nothing without a proof for
    each request. The command prints it with a warning; 'sq-demo call' sends the proofs.

    With --json it prints one object: access_token, token_type, expires_at (ISO 8601),
    expires_in (seconds) and scope, as far as the server sent them, and bound, which is true
    for a token that needs proofs.
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
        try await Self.token(of: account.oauth, console)
      }
      if token.isBound { console.warn(Self.needsProofs) }
      try console.result(
        printsJSON
          ? try TokenReport(token, at: Date(), withRefreshToken: false).json()
          : token.accessToken)
    }
  }

  private static let needsProofs =
    "the token is bound to a key of the account: without a proof for each request it is worth "
    + "nothing; 'sq-demo call' sends it with one"

  /// Returns the token of an account.
  ///
  /// If the server answers a refresh slowly, this method calls `token()` again after each timeout.
  private static func token(
    of oauth: SQOAuth, _ console: Console
  ) async throws(SQOAuthError) -> SQToken {
    var attempts = 0
    while true {
      do throws(SQOAuthError) {
        return try await oauth.token()
      } catch {
        attempts += 1
        guard error.code == .requestTimedOut, !Task.isCancelled, attempts < mostAttempts else {
          throw error
        }
        guard attempts == 1 else { continue }
        console.progress("Waiting for the server's answer to a refresh in progress.")
      }
    }
  }

  /// The maximum number of calls of `token()`; a slow refresh ends before the last one times out.
  private static let mostAttempts = 8
}
