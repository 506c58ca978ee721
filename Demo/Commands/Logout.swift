import SequencingOAuth

/// `logout`: forgets an account that was kept.
struct Logout: Command {
  static let name = "logout"
  static let summary = "Forget an account on this machine."
  static let details = """
    Its record is erased from the store; the server is not told, and other programs stay
    signed in. 'sq-demo revoke' has the server end the tokens too.

    Where there is no such account it says so, and the exit status is 0.
    """
  static let options = [Option.account] + StoreOptions.options

  private let choice: AccountChoice
  private let store: StoreOptions

  init(_ arguments: Arguments) throws(Failure) {
    choice = AccountChoice(id: arguments[.account])
    store = try StoreOptions(arguments)
  }

  func run(_ console: Console) async throws(Failure) {
    guard let opened = try await store.openIfThere(console),
      let record = try await choice.record(in: opened)
    else { return try console.result(choice.nobody) }
    let oauth = Account.oauth(record.id, keptIn: opened)
    try await Failure.translating { () throws(SQOAuthError) in try await oauth.signOut() }
    try console.result(
      record.id == AccountChoice.defaultID
        ? "Signed out." : "Signed out of the account \"\(record.id.printable)\".")
  }
}
