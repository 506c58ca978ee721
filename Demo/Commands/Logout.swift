import SequencingOAuth

/// `logout`: forgets an account that was kept.
struct Logout: Command {
  static let name = "logout"
  static let summary = "Forget an account on this machine."
  static let details = """
    Its record is erased from the store, and with it how the account was signed in, so
    the next login needs the provider's options again. The server is not told, and other
    programs stay signed in; 'sq-demo revoke' has the server end the tokens too.

    An account whose session has ended can be forgotten too; until then 'sq-demo login
    --account ID' signs it in again where it was before.

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
    let opened = try await store.openIfThere(console)
    guard let opened, let record = try await choice.record(in: opened) else {
      return try await forgetSignedOut(in: opened, console)
    }
    let oauth = Account.oauth(record.id, keptIn: opened)
    try await Failure.translating { () throws(SQOAuthError) in try await oauth.signOut() }
    try await opened.clients?.forget(record.id)
    try console.result(
      record.id == AccountChoice.defaultID
        ? "Signed out." : "Signed out of the account \"\(record.id.printable)\".")
  }

  /// Forgets how an account was signed in whose session has ended.
  private func forgetSignedOut(in store: OpenStore?, _ console: Console) async throws(Failure) {
    guard let record = try await choice.remembered(in: store) else {
      return try console.result(choice.nobody)
    }
    try await store?.clients?.forget(record.id)
    try console.result(
      "The account \"\(record.id.printable)\" was signed out before; now it is forgotten.")
  }
}
