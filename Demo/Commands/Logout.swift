import SequencingOAuth

/// `logout`: erases an account from the store.
struct Logout: Command {
  static let name = "logout"
  static let summary = "Forget an account on this machine."
  static let details = """
    The command erases the account from the store and forgets how it was signed in, so the
    next login needs the provider's options again. The server does not learn of it, and
    other programs stay signed in; 'sq-demo revoke' makes the server end the tokens too.

    You can also forget an account whose session has ended; until then 'sq-demo login
    --account ID' signs it in again at its server.

    If there is no such account, the command says so, and the exit status is 0.

    With --json it prints one object: account, and forgotten, which is false if there was
    no such account.
    """
  static let options = [Option.json, .account] + StoreOptions.options

  private let choice: AccountChoice
  private let store: StoreOptions
  private let printsJSON: Bool

  init(_ arguments: Arguments) throws(Failure) {
    choice = AccountChoice(id: arguments[.account])
    store = try StoreOptions(arguments)
    printsJSON = arguments.contains(.json)
  }

  func run(_ console: Console) async throws(Failure) {
    let console = printsJSON ? console.reservingOutput : console
    let opened = try await store.openIfThere(console)
    guard let opened, let record = try await choice.record(in: opened) else {
      return try await forgetSignedOut(in: opened, console)
    }
    let oauth = Account.oauth(record.id, keptIn: opened)
    try await Failure.translating { () throws(SQOAuthError) in try await oauth.signOut() }
    try await opened.clients?.forget(record.id)
    try report(
      record.id, console,
      record.id == AccountChoice.defaultID
        ? "Signed out." : "Signed out of the account \"\(record.id.onScreen)\".")
  }

  /// Forgets an account whose session has ended.
  private func forgetSignedOut(in store: OpenStore?, _ console: Console) async throws(Failure) {
    guard let record = try await choice.remembered(in: store) else {
      return try report(choice.id, hasForgotten: false, console, choice.nobodyText)
    }
    try await store?.clients?.forget(record.id)
    try report(
      record.id, console,
      "The account \"\(record.id.onScreen)\" was signed out before; now it is forgotten.")
  }

  private func report(
    _ id: String?, hasForgotten: Bool = true, _ console: Console, _ sentence: String
  ) throws(Failure) {
    try console.result(
      printsJSON
        ? try oneLineOfJSON(EndReport(account: id, forgotten: hasForgotten)) : sentence)
  }
}
