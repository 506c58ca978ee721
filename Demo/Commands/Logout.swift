import SequencingOAuth

/// `logout`: forgets the account that was kept.
struct Logout: Command {
  static let name = "logout"
  static let summary = "Forget the account on this machine."
  static let details = """
    The tokens are erased from the store; the server is not told, and other programs
    stay signed in. 'sq-demo revoke' has the server end them too.
    """
  static let options = [Option.store]

  private let store: StoreOption?

  init(_ arguments: Arguments) throws(Failure) {
    store = try StoreOption(arguments[.store])
  }

  func run(_ console: Console) async throws(Failure) {
    let (store, _) = try StoreOption.open(store)
    let oauth = Account.oauth(keptIn: store)
    let wasSignedIn = try await Failure.translating { () throws(SQOAuthError) in
      // A file that does not hold an account need not be written, nor made.
      guard try await oauth.module.restore() else { return false }
      try await oauth.signOut()
      return true
    }
    try console.result(wasSignedIn ? "Signed out." : "Nobody is signed in.")
  }
}
