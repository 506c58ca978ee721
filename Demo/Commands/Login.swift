import SQBasics
import SQFoundation
import SequencingOAuth

extension Option {
  static let json = Option(
    "--json", help: "Print one JSON object on standard output, and nothing else there.")
}

/// The command `login`: signs in and stores the account.
struct Login: Command {
  static let name = "login"
  static let summary = "Sign in, in your browser or without one."
  static let details = """
    Without a provider, or with --sandbox, you sign in at a sandbox inside the program, for
    this run only; its login page shows its users. If --account names an account that was
    signed in before, you sign in again at its server, even if its session has ended. An
    account of the sandbox never takes the place of another server's account.

    On a machine without a browser, --device shows a short address and a code. Enter the
    code on your phone or any other device. If the server cannot do that and no browser
    opens, the program prints the address, and you open it yourself. If you open it on
    another machine, your browser stops at an address: paste that into this program.

    Examples: 'sq-demo login --provider google --client-id ID --scope openid'; 'sq-demo
    login --browser sandbox', which plays the user of a sandbox.

    At a server that lets programs register themselves, --issuer needs no --client-id; with
    --key the program registers that key.

    The account is kept under the name that --account gives it, with everything that the
    other commands need, including the client's secret, but not its key: of --key the
    account has the path of the file, which a command reads when it needs the key. The account
    replaces one of the same name. The program also remembers how the account was signed in,
    without the secret, until 'sq-demo logout' or 'sq-demo revoke'. If the session has ended,
    you must give the client's secret again.

    With --dpop the tokens are bound to a key that the program makes; the other commands
    then prove with each request that they have it. A profile of FAPI 2.0 does this too. With
    either option, the other commands refuse an account whose tokens are not bound.

    A redirect URI with a scheme of its own, or with https, does not reach this program.
    When you have signed in, copy the address of the page in your browser and paste it
    into this program; a script may write it to standard input.

    Where the provider supports OpenID Connect, the command asks it who you are (the scope
    'openid profile email', unless --scope names other scopes); 'sq-demo whoami' shows it later.

    The command prints the access token only with --json, because it is as valuable as a
    password: access_token, token_type, expires_at (ISO 8601), expires_in (seconds),
    scope and refresh_token, as far as the server sent them, and bound, which is true for a
    token that needs proofs.
    """
  static let options = AccountOptions.optionsOrSandbox + [.device, .responseMode, .json]

  private let account: AccountOptions
  private let printsJSON: Bool

  init(_ arguments: Arguments) throws(Failure) {
    account = try AccountOptions(arguments, areForNew: true)
    printsJSON = arguments.contains(.json)
  }

  func run(_ console: Console) async throws(Failure) {
    let console = printsJSON ? console.reservingOutput : console
    try await account.withNewAccount(console) { account throws(Failure) in
      guard let token = account.oauth.result.token else { return }
      guard !printsJSON else {
        return try console.result(try TokenReport(token, at: Date()).json())
      }
      let place = await account.store.place
      let id = place == nil ? nil : account.id
      let user = await SignedInUser.find(account.oauth)
      try console.result(
        TokenSummary(token, of: user, at: Date(), account: id, keptIn: place).text)
    }
  }
}
