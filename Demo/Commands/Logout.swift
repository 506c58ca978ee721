import SequencingOAuth

/// `logout`: forgets the account that was kept.
struct Logout: Command {
  static let name = "logout"
  static let summary = "Forget the account on this machine."
  static let details = """
    The tokens are erased from the store; the server is not told, and other programs
    stay signed in.
    """
  static let options = [Option.store]

  private let store: StoreOption?

  init(_ arguments: Arguments) throws(Failure) {
    store = try StoreOption(arguments[.store])
  }

  func run(_ console: Console) async throws(Failure) {
    let (store, _) = try StoreOption.open(store)
    // A file that does not hold an account need not be written, nor made.
    guard try await StoredAccount.load(from: store) != nil else {
      return try console.result("Nobody is signed in.")
    }
    try await StoredAccount.erase(from: store)
    try console.result("Signed out.")
  }
}
